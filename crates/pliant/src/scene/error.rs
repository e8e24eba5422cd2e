//! Messages that point at the line that is wrong.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::description::Description;
use super::shipped::SHIPPED;

/// What is wrong with a scene, where, and what would be right.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneError {
    /// Name of the file.
    pub file: String,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// The line's text, and the length of the part that is wrong.
    excerpt: Option<(String, usize)>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
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
        if let (Some((line, column)), Some((text, length))) = (self.place, &self.excerpt) {
            let number = line.to_string();
            let gap = " ".repeat(number.len());
            let marks = "^".repeat((*length).max(1));
            let indent = " ".repeat(column - 1);
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
                let mut error = self.explained(message);
                if e.line() > 0 {
                    error.place = Some((e.line(), e.column().max(1)));
                }
                error
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

    /// An error about the value at `path`.
    pub fn at(&self, path: &[Key<'_>], message: impl Into<String>) -> SceneError {
        let error = SceneError::new(&self.file, message);
        if self.is_json() {
            return error;
        }
        match self.locate(path) {
            Some(span) => self.mark(error, span),
            None => error,
        }
    }

    /// Rewrites a parser's message: names what is unknown and what is near.
    pub fn explained(&self, message: &str) -> SceneError {
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let error = SceneError::new(&self.file, message.trim_end());
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
            return SceneError::new(&self.file, format!("the key `{key}` is missing"));
        }
        error
    }

    /// Puts line, column and excerpt to an error.
    fn mark(&self, mut error: SceneError, span: Range<usize>) -> SceneError {
        let start = span.start.min(self.text.len());
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = self.text[line_start..].lines().next().unwrap_or("");
        let column = self.text[line_start..start].chars().count() + 1;
        let length = self.text[start..span.end.clamp(start, self.text.len())]
            .lines()
            .next()
            .map_or(0, |l| l.chars().count());
        error.place = Some((before.matches('\n').count() + 1, column));
        error.excerpt = Some((line.to_string(), length));
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
