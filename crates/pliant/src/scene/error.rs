//! Messages that point at the line that is wrong.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::description::Description;
use super::json_place;
use super::shipped::SHIPPED;

/// Longest part of a line that is shown.
const WIDEST: usize = 120;

/// What is wrong with a scene, where, and what would be right.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneError {
    /// Name of the file.
    pub file: String,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    excerpt: Option<Box<Excerpt>>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

/// The line that is wrong, or the part of it that is shown.
#[derive(Clone, Debug, PartialEq)]
struct Excerpt {
    text: String,
    /// Where the wrong part begins in `text`, from 1.
    column: usize,
    /// Characters of the wrong part.
    length: usize,
}

impl SceneError {
    pub(super) fn new(file: &str, message: impl Into<String>) -> SceneError {
        SceneError {
            file: file.into(),
            place: None,
            excerpt: None,
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> SceneError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let (Some((line, _)), Some(excerpt)) = (self.place, &self.excerpt) {
            let Excerpt {
                text,
                column,
                length,
            } = &**excerpt;
            let number = line.to_string();
            let gap = " ".repeat(number.len());
            let marks = "^".repeat(*length);
            // Tabs stay tabs, so that the marks stand below what they mark.
            let indent: String = text
                .chars()
                .take(column - 1)
                .map(|c| if c == '\t' { c } else { ' ' })
                .collect();
            write!(
                f,
                "\n {gap} |\n {number} | {text}\n {gap} | {indent}{marks}"
            )?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneError {}

pub(super) fn unknown_scene(name: &str) -> SceneError {
    let error = SceneError::new(name, "there is no shipped scene and no file of this name");
    match nearest(name, SHIPPED.iter().map(|(n, _)| *n)) {
        Some(near) => error.with_help(format!(
            "did you mean `{near}`? `pliant scenes` lists all of them"
        )),
        None => error.with_help("`pliant scenes` lists what is built in"),
    }
}

/// One step on the way to a value: a key or a position in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key<'a> {
    Name(&'a str),
    Item(usize),
}

/// The text of a scene file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub file: String,
    pub text: String,
}

impl Source {
    pub fn new(file: &str, text: &str) -> Source {
        Source {
            file: file.into(),
            text: text.into(),
        }
    }

    pub fn is_json(&self) -> bool {
        self.file.to_ascii_lowercase().ends_with(".json")
    }

    pub fn read(&self) -> Result<Description, SceneError> {
        if self.is_json() {
            serde_json::from_str(&self.text).map_err(|e| {
                let text = e.to_string();
                let message = text.split(" at line ").next().unwrap_or(&text);
                let error = self.explained(message);
                match e.line() {
                    0 => error,
                    line => self.mark(error, self.before(line, e.column())),
                }
            })
        } else {
            toml::from_str(&self.text).map_err(|e| {
                let error = self.explained(e.message());
                match e.span() {
                    Some(span) => self.mark(error, span),
                    None => error,
                }
            })
        }
    }

    /// The last byte that a JSON parser read when it stood at this line and column.
    fn before(&self, line: usize, column: usize) -> Range<usize> {
        let lines = self.text.split_inclusive('\n');
        let start: usize = lines.take(line - 1).map(str::len).sum();
        let at = start + column.saturating_sub(1);
        at..at + 1
    }

    /// An error about the value at `path`.
    pub fn at(&self, path: &[Key<'_>], message: impl Into<String>) -> SceneError {
        let error = SceneError::new(&self.file, message);
        let span = if self.is_json() {
            json_place::locate(&self.text, path)
        } else {
            self.locate(path)
        };
        match span {
            Some(span) => self.mark(error, span),
            None => error,
        }
    }

    /// Rewrites a parser's message: names what is unknown and what is near.
    pub fn explained(&self, message: &str) -> SceneError {
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let unknown = ["unknown field", "unknown variant"]
            .iter()
            .any(|p| message.contains(p));
        if unknown && let [wrong, known @ ..] = &quoted[..] {
            let what = if message.contains("variant") {
                "value"
            } else {
                "key"
            };
            let mut error = SceneError::new(&self.file, format!("unknown {what} `{wrong}`"));
            let list = known
                .iter()
                .map(|k| format!("`{k}`"))
                .collect::<Vec<_>>()
                .join(", ");
            error.help = Some(match nearest(wrong, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? known here: {list}"),
                None => format!("known here: {list}"),
            });
            return error;
        }
        if message.contains("missing field")
            && let [key, ..] = &quoted[..]
        {
            let error = SceneError::new(&self.file, format!("the key `{key}` is missing"));
            return match meaning(key) {
                Some(meaning) => error.with_help(format!("`{key}`: {meaning}")),
                None => error,
            };
        }
        let message = message.trim_end();
        SceneError::new(
            &self.file,
            wrong_type(message).unwrap_or_else(|| message.to_string()),
        )
    }

    /// Puts line, column and excerpt to an error.
    fn mark(&self, mut error: SceneError, span: Range<usize>) -> SceneError {
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.floor_char_boundary(span.end.max(start));
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = self.text[line_start..].lines().next().unwrap_or("");
        let column = self.text[line_start..start].chars().count();
        let marked = self.text[start..end].lines().next().unwrap_or("");
        error.place = Some((before.matches('\n').count() + 1, column + 1));
        // A scene on a single line can be very long: show the neighbourhood.
        let hidden = if line.chars().count() > WIDEST {
            column.saturating_sub(WIDEST / 2)
        } else {
            0
        };
        let text: String = line.chars().skip(hidden).take(WIDEST).collect();
        let room = text.chars().count().saturating_sub(column - hidden);
        error.excerpt = Some(Box::new(Excerpt {
            column: column - hidden + 1,
            length: marked.chars().count().clamp(1, room.max(1)),
            text,
        }));
        error
    }

    /// Where the value at `path` stands; the last part that exists if it does not.
    fn locate(&self, path: &[Key<'_>]) -> Option<Range<usize>> {
        let root = DeTable::parse(&self.text).ok()?;
        let mut span = None;
        let mut here: Option<&DeValue<'_>> = None;
        for (depth, key) in path.iter().enumerate() {
            let next = match (key, here) {
                (Key::Name(name), None) if depth == 0 => root.get_ref().get(*name),
                (Key::Name(name), Some(DeValue::Table(table))) => table.get(*name),
                (Key::Item(i), Some(DeValue::Array(list))) => list.get(*i),
                _ => None,
            };
            let Some(value) = next else { break };
            span = Some(value.span());
            here = Some(value.get_ref());
        }
        span
    }
}

/// A parser's message about a wrong type, in the words of the documentation.
fn wrong_type(message: &str) -> Option<String> {
    let rest = ["invalid type: ", "invalid value: ", "invalid "]
        .iter()
        .find_map(|p| message.strip_prefix(p))?;
    let (found, wanted) = rest.split_once(", expected ")?;
    let plain = found.replace('`', "");
    let found = match plain.split_once(' ') {
        Some(("integer", n)) => n.to_string(),
        Some(("floating", point)) => point.trim_start_matches("point ").to_string(),
        Some(("boolean", b)) => b.to_string(),
        Some(("string", text)) => format!("the text {text}"),
        Some(("length", n)) => format!("a list of {n}"),
        _ => match plain.as_str() {
            "map" => "a table".to_string(),
            "sequence" => "a list".to_string(),
            "null" => "nothing".to_string(),
            other => other.to_string(),
        },
    };
    let wanted = match wanted {
        "f32" | "f64" => "a number",
        "u32" | "u64" | "usize" => "a whole number, 0 or more,",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        w if w.contains("3 f32") || w.contains("length 3") => "a list of 3 numbers",
        w if w.starts_with("struct ") || w == "a map" => "a table",
        other => other,
    };
    Some(format!("this is {found}, but {wanted} is needed here"))
}

/// What the schema says of a key, if it says the same wherever the key occurs.
fn meaning(key: &str) -> Option<String> {
    fn collect(schema: &serde_json::Value, key: &str, found: &mut Vec<String>) {
        let Some(table) = schema.as_object() else {
            schema
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|s| collect(s, key, found));
            return;
        };
        let text = |s: &serde_json::Value| s.get("description")?.as_str().map(String::from);
        let described = table
            .get("properties")
            .and_then(|p| p.get(key))
            .and_then(text);
        found.extend(described.filter(|d| !found.contains(d)));
        table.values().for_each(|s| collect(s, key, found));
    }
    let mut found = Vec::new();
    collect(&super::Scene::schema(), key, &mut found);
    match &mut found[..] {
        [only] => Some(std::mem::take(only).replace('\n', " ")),
        _ => None,
    }
}

/// The candidate nearest in spelling, if one is near.
pub(super) fn nearest<'a>(
    wrong: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .map(|c| (strsim::damerau_levenshtein(wrong, c), c))
        .filter(|(distance, c)| *distance <= 1 + c.len().max(wrong.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}
