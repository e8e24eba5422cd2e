//! The parameters of a scene, found in its own declaration: the JSON Schema that
//! `pliant schema` prints gives their documentation, units and choices.

use pliant::scene::Scene;
use serde_json::Value;

/// Parts of a scene that can be turned while it runs, with their titles.
const GROUPS: [(&str, &str); 8] = [
    ("gravity", "Gravity"),
    ("fluid", "Liquid"),
    ("solid", "Body"),
    ("soft", "Soft body"),
    ("obstacle", "Obstacle"),
    ("field", "Field"),
    ("sink", "Sink"),
    ("step", "Step"),
];

/// Keys that decide what there is at the start: changing them starts the scene again.
const AT_START: [&str; 21] = [
    "spacing",
    "support",
    "fill",
    "density",
    "pressure",
    "density_kernel",
    "shape",
    "mesh",
    "index",
    "sdf_cell",
    "scale",
    "rotate",
    "translate",
    "velocity",
    "spin",
    "motion",
    "coating",
    "model",
    "pin",
    "load",
    "start",
];

/// A value that can be changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number between two ends.
    Number {
        /// What it is.
        value: f64,
        /// Smallest and largest that a slider offers.
        range: [f64; 2],
        /// The slider is logarithmic.
        logarithmic: bool,
        /// Whole numbers only.
        whole: bool,
    },
    /// Yes or no.
    Flag(bool),
    /// One of some names.
    Choice {
        /// Which.
        value: String,
        /// All.
        options: Vec<String>,
    },
    /// A vector.
    Vector([f64; 3]),
}

/// A parameter of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The way to it, as `--set` takes it: `fluid.0.viscosity`.
    pub key: String,
    /// Part of the scene: `Liquid water`.
    pub group: String,
    /// Short name.
    pub label: String,
    /// What the declaration says.
    pub doc: String,
    /// Unit, or nothing.
    pub unit: &'static str,
    /// What it is.
    pub setting: Setting,
    /// Changing it starts the scene again.
    pub restarts: bool,
}

/// All parameters of a scene, group by group.
pub fn parameters(scene: &Scene) -> Vec<Parameter> {
    let schema = Scene::schema();
    let Ok(mut root) = serde_json::to_value(&scene.description) else {
        return Vec::new();
    };
    materials(&mut root);
    let mut found = Finder {
        schema: &schema,
        parameters: Vec::new(),
    };
    for (key, title) in GROUPS {
        let Some(value) = root.get(key) else { continue };
        let declared = found.property(&schema, key);
        match value {
            Value::Array(items) => {
                let item = declared.and_then(|d| found.item(d));
                for (i, value) in items.iter().enumerate() {
                    let name = value.get("name").and_then(Value::as_str);
                    let group = format!("{title} {}", name.unwrap_or(&(i + 1).to_string()));
                    found.walk(value, item, &format!("{key}.{i}"), "", &group);
                }
            }
            _ => found.walk(value, declared, key, "", title),
        }
    }
    found.parameters
}

/// Numbers that liquids take from their material stand in the scene as nothing.
fn materials(root: &mut Value) {
    let Some(fluids) = root.get_mut("fluid").and_then(Value::as_array_mut) else {
        return;
    };
    for fluid in fluids {
        let name = fluid.get("material").and_then(Value::as_str);
        let Some(material) = name.and_then(pliant::Material::named) else {
            continue;
        };
        let own = [
            ("density", material.density),
            ("viscosity", material.viscosity),
            ("surface_tension", material.surface_tension),
        ];
        for (key, value) in own {
            if let Some(slot) = fluid.get_mut(key).filter(|v| v.is_null()) {
                *slot = value.into();
            }
        }
    }
}

struct Finder<'a> {
    schema: &'a Value,
    parameters: Vec<Parameter>,
}

impl<'a> Finder<'a> {
    /// What a reference stands for.
    fn resolved(&self, declared: &'a Value) -> &'a Value {
        let path = declared.get("$ref").and_then(Value::as_str);
        let target = path.and_then(|p| self.schema.pointer(p.trim_start_matches('#')));
        target.unwrap_or(declared)
    }

    /// The alternatives of a declaration; itself if it has none.
    fn alternatives(&self, declared: &'a Value) -> Vec<&'a Value> {
        let declared = self.resolved(declared);
        let list = ["oneOf", "anyOf"].iter().find_map(|k| declared.get(*k));
        match list.and_then(Value::as_array) {
            Some(list) => list.iter().flat_map(|d| self.alternatives(d)).collect(),
            None => vec![declared],
        }
    }

    fn property(&self, declared: &'a Value, key: &str) -> Option<&'a Value> {
        let alternatives = self.alternatives(declared).into_iter();
        let mut found = alternatives.filter_map(|d| d.get("properties")?.get(key));
        found.next()
    }

    fn item(&self, declared: &'a Value) -> Option<&'a Value> {
        let alternatives = self.alternatives(declared).into_iter();
        let mut found = alternatives.filter_map(|d| d.get("items"));
        found.next()
    }

    /// The names that a declaration allows, if it is a list of names.
    fn names(&self, declared: &'a Value) -> Vec<String> {
        let mut names = Vec::new();
        for d in self.alternatives(declared) {
            let list = d.get("enum").and_then(Value::as_array);
            let one = d.get("const").into_iter();
            let all = list.into_iter().flatten().chain(one);
            names.extend(all.filter_map(Value::as_str).map(String::from));
        }
        names
    }

    fn walk(
        &mut self,
        value: &Value,
        declared: Option<&'a Value>,
        key: &str,
        label: &str,
        group: &str,
    ) {
        let doc = declared.map_or("", |d| {
            let own = d.get("description").and_then(Value::as_str);
            own.unwrap_or_else(|| {
                let target = self.resolved(d).get("description");
                target.and_then(Value::as_str).unwrap_or("")
            })
        });
        let setting = match value {
            Value::Number(n) => n.as_f64().map(|v| number(shortest(v), doc, n.is_u64())),
            Value::Bool(b) => Some(Setting::Flag(*b)),
            Value::String(text) => {
                let options = declared.map_or(Vec::new(), |d| self.names(d));
                options.contains(text).then(|| Setting::Choice {
                    value: text.clone(),
                    options,
                })
            }
            Value::Array(list) => {
                let numbers: Vec<f64> = list
                    .iter()
                    .filter_map(Value::as_f64)
                    .map(shortest)
                    .collect();
                let vector = <[f64; 3]>::try_from(numbers).ok();
                if vector.is_none() {
                    let item = declared.and_then(|d| self.item(d));
                    for (i, value) in list.iter().enumerate() {
                        let label = format!("{label} {}", i + 1);
                        self.walk(value, item, &format!("{key}.{i}"), label.trim(), group);
                    }
                }
                vector.map(Setting::Vector)
            }
            Value::Object(table) => {
                for (name, value) in table {
                    let declared = declared.and_then(|d| self.property(d, name));
                    let words = name.replace(['_', '-'], " ");
                    let label = format!("{label} {words}");
                    self.walk(
                        value,
                        declared,
                        &format!("{key}.{name}"),
                        label.trim(),
                        group,
                    );
                }
                None
            }
            Value::Null => None,
        };
        if let Some(setting) = setting {
            self.parameters.push(Parameter {
                restarts: key.split('.').skip(1).any(|k| AT_START.contains(&k))
                    && !key.starts_with("gravity")
                    && !key.starts_with("field"),
                key: key.into(),
                group: group.into(),
                label: label.into(),
                doc: doc.into(),
                unit: unit(doc),
                setting,
            });
        }
    }
}

/// The shortest decimal that is the same `f32`: 9.81 instead of 9.8100004196. Numbers that
/// are no `f32` stay as they are.
fn shortest(value: f64) -> f64 {
    let single = value as f32;
    if f64::from(single) != value {
        return value;
    }
    single.to_string().parse().unwrap_or(value)
}

/// A number and the ends of its slider: those that its documentation names, or around
/// what it is.
fn number(value: f64, doc: &str, whole: bool) -> Setting {
    let share = doc.contains("0 to 1") || doc.contains("0 (not drawn)");
    let named = share && (0.0..=1.0).contains(&value);
    let (range, logarithmic) = if named {
        ([0.0, 1.0], false)
    } else if doc.contains("degrees") && value.abs() <= 180.0 {
        ([if value < 0.0 { -180.0 } else { 0.0 }, 180.0], false)
    } else if value > 0.0 {
        ([value * 1e-2, value * 1e2], true)
    } else if value < 0.0 {
        ([4.0 * value, -4.0 * value], false)
    } else {
        ([0.0, 1.0], false)
    };
    let range = if whole {
        [range[0].floor(), range[1].ceil()]
    } else {
        range
    };
    Setting::Number {
        value,
        range,
        logarithmic,
        whole,
    }
}

/// The unit that a documentation names first.
fn unit(doc: &str) -> &'static str {
    const UNITS: [(&str, &str); 16] = [
        ("in kg/m³", "kg/m³"),
        ("in Pa·s", "Pa·s"),
        ("in N/m", "N/m"),
        ("in m²/s", "m²/s"),
        ("in m³/s", "m³/s"),
        ("in m/s²", "m/s²"),
        ("in m/s", "m/s"),
        ("in degrees per second", "°/s"),
        ("in degrees", "°"),
        ("in Hz", "Hz"),
        ("in 1/s", "1/s"),
        ("in Pa", "Pa"),
        ("in kg", "kg"),
        ("in metres", "m"),
        ("in seconds", "s"),
        ("in N", "N"),
    ];
    let doc = doc.replace("In ", "in ");
    let places = UNITS.iter().filter_map(|(word, unit)| {
        let place = doc.find(word)?;
        // The longest of those that begin at one place.
        Some((place, usize::MAX - word.len(), *unit))
    });
    places.min().map_or("", |(.., unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scene: &str) -> Vec<Parameter> {
        parameters(&Scene::open(scene, &[]).unwrap())
    }

    fn find<'a>(list: &'a [Parameter], key: &str) -> &'a Parameter {
        let found = list.iter().find(|p| p.key == key);
        found.unwrap_or_else(|| panic!("{key} is not among {list:#?}"))
    }

    #[test]
    fn keys_units_and_documentation_come_from_the_declaration() {
        let list = of("colon");
        let viscosity = find(&list, "fluid.0.viscosity");
        assert_eq!(viscosity.unit, "Pa·s");
        assert_eq!(viscosity.group, "Liquid contrast");
        assert!(viscosity.doc.contains("Dynamic viscosity"));
        assert!(!viscosity.restarts);
        let Setting::Number { value, range, .. } = viscosity.setting else {
            panic!("{viscosity:?}");
        };
        assert!(range[0] < value && value < range[1]);
        let gravity = find(&list, "gravity.acceleration");
        assert_eq!(gravity.setting, Setting::Vector([0.0, -9.81, 0.0]));
        assert_eq!(gravity.unit, "m/s²");
        assert!(find(&list, "fluid.0.spacing").restarts);
        let Setting::Choice { options, .. } = &find(&list, "obstacle.0.index").setting else {
            panic!("no choice");
        };
        assert!(options.iter().any(|o| o == "sdf"), "{options:?}");
        assert_eq!(
            find(&list, "obstacle.0.no_slip").setting,
            Setting::Flag(true)
        );
    }

    #[test]
    fn every_parameter_of_every_scene_can_be_set_by_its_key() {
        for (name, _) in pliant::scene::SHIPPED {
            let list = of(name);
            assert!(!list.is_empty(), "{name}");
            let pairs: Vec<String> = list
                .iter()
                .filter_map(|p| match &p.setting {
                    Setting::Number { value, .. } => Some(format!("{}={value}", p.key)),
                    Setting::Flag(value) => Some(format!("{}={value}", p.key)),
                    _ => None,
                })
                .filter(|pair| !pair.contains(".density="))
                .collect();
            // What a material says is no key of the file yet; the others stay as they are.
            Scene::open(name, &pairs).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }

    #[test]
    fn units_are_found_in_words() {
        assert_eq!(
            unit("Constant turning in degrees per second, counter"),
            "°/s"
        );
        assert_eq!(unit("Acceleration in m/s²."), "m/s²");
        assert_eq!(unit("Speed in m/s."), "m/s");
        assert_eq!(
            unit("Density in kg/m³, if not that of the material."),
            "kg/m³"
        );
        assert_eq!(unit("In Hz."), "Hz");
        assert_eq!(unit("Coulomb friction coefficient."), "");
    }
}
