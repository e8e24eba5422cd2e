//! `key=value` pairs that change a scene without editing its file.

use serde_json::Value;

use super::description::Description;
use super::error::{Key, SceneError, Source};

/// One pair, and the value it has changed.
#[derive(Clone, Debug)]
pub(super) struct Override {
    /// As it was given.
    pub pair: String,
    /// The way to the value, list items as numbers.
    path: Vec<String>,
}

impl Override {
    /// How messages name it.
    pub fn place(&self) -> String {
        format!("--set {}", self.pair)
    }

    /// True if it has set the value at `path`, or a part of it. Whole items of a
    /// list do not count as values: they have other parts, too.
    pub fn concerns(&self, path: &[Key<'_>]) -> bool {
        let same = |(mine, key): (&String, &Key<'_>)| match key {
            Key::Name(name) => mine == name,
            Key::Item(i) => *mine == i.to_string(),
        };
        let shares = self.path.iter().zip(path).all(same);
        shares && (self.path.len() <= path.len() || matches!(path.last(), Some(Key::Name(_))))
    }
}

/// Reads the scene with the `pairs` applied. Lists are entered by number or by
/// the `name` of an item: `fluid.0.viscosity=2`, `obstacle.colon.friction=0.3`.
pub(super) fn apply(
    source: &Source,
    pairs: &[String],
) -> Result<(Description, Vec<Override>), SceneError> {
    let mut root: Value = if source.is_json() {
        serde_json::from_str(&source.text).map_err(|e| SceneError::new(&source.file, e.to_string()))
    } else {
        toml::from_str(&source.text).map_err(|e| SceneError::new(&source.file, e.to_string()))
    }?;
    let mut overrides = Vec::new();
    for pair in pairs {
        let place = format!("--set {pair}");
        let Some((key, value)) = pair.split_once('=') else {
            return Err(SceneError::new(&place, "this is not of the form key=value")
                .with_help("for example --set fluid.0.viscosity=2"));
        };
        let value = parse_value(value.trim());
        if !is_finite(&value) {
            return Err(SceneError::new(&place, "the value must be finite"));
        }
        let mut path = Vec::new();
        *find(&mut root, key.trim(), &place, &mut path)? = value;
        // Check after every one, so that the message names the right pair.
        if let Err(e) = serde_json::from_value::<Description>(root.clone()) {
            let mut error = source.explained(&e.to_string());
            error.file = place;
            return Err(error);
        }
        overrides.push(Override {
            pair: pair.clone(),
            path,
        });
    }
    // JSON's own nulls are values left out; TOML has none.
    if !source.is_json() && !is_finite(&root) {
        return Err(SceneError::new(
            &source.file,
            "every number of a scene must be finite, but one is nan or inf",
        ));
    }
    let description = serde_json::from_value(root).map_err(|e| source.explained(&e.to_string()))?;
    Ok((description, overrides))
}

/// A number, list, table or text as TOML writes it; anything else is a text.
fn parse_value(text: &str) -> Value {
    toml::from_str::<Value>(&format!("v = {text}"))
        .ok()
        .and_then(|mut t| t.get_mut("v").map(Value::take))
        .unwrap_or_else(|| Value::String(text.into()))
}

/// False if a number was nan or infinite in TOML: such become null on the way.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => list.iter().all(is_finite),
        Value::Object(table) => table.values().all(is_finite),
        _ => true,
    }
}

/// The value at `key`, made if it is not there; the way to it goes to `path`.
fn find<'a>(
    root: &'a mut Value,
    key: &str,
    place: &str,
    path: &mut Vec<String>,
) -> Result<&'a mut Value, SceneError> {
    let mut here = root;
    for key in key.split('.') {
        if here.is_null() {
            // Nothing with a number or a name is made from nothing.
            if key.parse::<usize>().is_ok() {
                let list = path.last().map_or("", String::as_str);
                let text = format!("this scene has no `{list}`, so there is no `{list}.{key}`");
                return Err(SceneError::new(place, text));
            }
            *here = Value::Object(Default::default());
        }
        let mut step = key.to_string();
        here =
            match here {
                Value::Array(list) => {
                    let position = key.parse().ok().or_else(|| {
                        list.iter()
                            .position(|item| item.get("name").and_then(Value::as_str) == Some(key))
                    });
                    let count = list.len();
                    step = position.unwrap_or(count).to_string();
                    position.and_then(|i: usize| list.get_mut(i)).ok_or_else(|| {
                    SceneError::new(
                        place,
                        format!("there is no `{key}` in this list of {count} (numbers start at 0)"),
                    )
                })?
                }
                Value::Object(table) => table.entry(key).or_insert(Value::Null),
                other => {
                    return Err(SceneError::new(
                        place,
                        format!("`{key}` is inside {other}, which has no keys"),
                    ));
                }
            };
        path.push(step);
    }
    Ok(here)
}
