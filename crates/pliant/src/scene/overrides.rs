//! `key=value` pairs that change a scene without editing its file.

use serde_json::Value;

use super::description::Description;
use super::error::{SceneError, Source};

/// Reads the scene with `overrides` applied. Lists are entered by number or by
/// the `name` of an item: `fluid.0.viscosity=2`, `obstacle.colon.friction=0.3`.
pub(super) fn apply(source: &Source, overrides: &[String]) -> Result<Description, SceneError> {
    let mut root: Value = if source.is_json() {
        serde_json::from_str(&source.text).map_err(|e| SceneError::new(&source.file, e.to_string()))
    } else {
        toml::from_str(&source.text).map_err(|e| SceneError::new(&source.file, e.to_string()))
    }?;
    for pair in overrides {
        let place = format!("--set {pair}");
        let Some((key, value)) = pair.split_once('=') else {
            return Err(SceneError::new(&place, "this is not of the form key=value")
                .with_help("for example --set fluid.0.viscosity=2"));
        };
        let value = parse_value(value.trim());
        *find(&mut root, key.trim(), &place)? = value;
        // Check after every one, so that the message names the right pair.
        if let Err(e) = serde_json::from_value::<Description>(root.clone()) {
            let mut error = source.explained(&e.to_string());
            error.file = place;
            return Err(error);
        }
    }
    serde_json::from_value(root).map_err(|e| source.explained(&e.to_string()))
}

/// A number, list, table or text as TOML writes it; anything else is a text.
fn parse_value(text: &str) -> Value {
    toml::from_str::<Value>(&format!("v = {text}"))
        .ok()
        .and_then(|mut t| t.get_mut("v").map(Value::take))
        .unwrap_or_else(|| Value::String(text.into()))
}

fn find<'a>(root: &'a mut Value, path: &str, place: &str) -> Result<&'a mut Value, SceneError> {
    let mut here = root;
    for key in path.split('.') {
        here = match here {
            Value::Array(list) => {
                let position = key.parse().ok().or_else(|| {
                    list.iter()
                        .position(|item| item.get("name").and_then(Value::as_str) == Some(key))
                });
                let count = list.len();
                position.and_then(|i: usize| list.get_mut(i)).ok_or_else(|| {
                    SceneError::new(
                        place,
                        format!("there is no `{key}` in this list of {count} (numbers start at 0)"),
                    )
                })?
            }
            Value::Object(table) => table.entry(key).or_insert(Value::Null),
            Value::Null => {
                *here = Value::Object(Default::default());
                match here {
                    Value::Object(table) => table.entry(key).or_insert(Value::Null),
                    _ => unreachable!("just made a table"),
                }
            }
            other => {
                return Err(SceneError::new(
                    place,
                    format!("`{key}` is inside {other}, which has no keys"),
                ));
            }
        };
    }
    Ok(here)
}
