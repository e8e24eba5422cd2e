//! Where a value stands in JSON text, for messages. `serde_json` keeps no places,
//! so this walks the text again; it expects text that has been parsed before.

use std::ops::Range;

use super::error::Key;

/// Where the value at `path` stands; the last part that exists if it does not.
pub(super) fn locate(text: &str, path: &[Key<'_>]) -> Option<Range<usize>> {
    let mut walk = Walk { text, at: 0 };
    let mut found = None;
    for key in path {
        walk.space();
        let inside = match key {
            Key::Name(name) => walk.member(name),
            Key::Item(index) => walk.item(*index),
        };
        if inside.is_none() {
            break;
        }
        let start = walk.at;
        let mut end = Walk { text, at: start };
        end.value()?;
        found = Some(start..end.at);
    }
    found
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Goes from the `{` of an object to the value of `name`.
    fn member(&mut self, name: &str) -> Option<()> {
        self.expect(b'{')?;
        loop {
            self.space();
            let start = self.at;
            self.string()?;
            let key: String = serde_json::from_str(&self.text[start..self.at]).ok()?;
            self.expect(b':')?;
            self.space();
            if key == name {
                return Some(());
            }
            self.value()?;
            self.expect(b',')?;
        }
    }

    /// Goes from the `[` of a list to item `index`.
    fn item(&mut self, index: usize) -> Option<()> {
        self.expect(b'[')?;
        for _ in 0..index {
            self.space();
            self.value()?;
            self.expect(b',')?;
        }
        self.space();
        (self.peek()? != b']').then_some(())
    }

    /// Passes over any value.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                b if b.is_ascii_whitespace() => self.at += 1,
                _ => self.word(),
            }
            if depth <= 0 {
                return Some(());
            }
        }
    }

    /// Passes over a number, `true`, `false` or `null`.
    fn word(&mut self) {
        let ends = |b: u8| b.is_ascii_whitespace() || b",:]}".contains(&b);
        while self.peek().is_some_and(|b| !ends(b)) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Key::{Item, Name};
    use super::*;

    const TEXT: &str = r#"{ "a": [1, {"b\"ä": "x]}", "c" : -2.5e3 }, []],
        "d": {"e": null} }"#;

    fn found(path: &[Key<'_>]) -> Option<&'static str> {
        locate(TEXT, path).map(|span| &TEXT[span])
    }

    #[test]
    fn finds_values_at_any_depth() {
        assert_eq!(found(&[Name("a"), Item(0)]), Some("1"));
        assert_eq!(found(&[Name("a"), Item(1), Name("c")]), Some("-2.5e3"));
        assert_eq!(found(&[Name("a"), Item(1), Name("b\"ä")]), Some("\"x]}\""));
        assert_eq!(found(&[Name("d")]), Some("{\"e\": null}"));
        assert_eq!(found(&[Name("d"), Name("e")]), Some("null"));
    }

    #[test]
    fn what_is_missing_gives_the_last_part_that_exists() {
        assert_eq!(found(&[Name("d"), Name("f")]), Some("{\"e\": null}"));
        assert_eq!(found(&[Name("a"), Item(2), Item(0)]), Some("[]"));
        assert_eq!(found(&[Name("d"), Item(0)]), Some("{\"e\": null}"));
        assert_eq!(found(&[Name("z")]), None);
        assert_eq!(found(&[]), None);
        assert_eq!(locate("{ \"a\": [1, ", &[Name("a"), Item(5)]), None);
    }
}
