//! JSON Pointer (RFC 6901), built while descending and printed in errors.

use std::fmt;

/// A place in a JSON document; the empty pointer is the whole document.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// The member `key` of this object; `~` and `/` are escaped (RFC 6901 section 3).
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut text = String::with_capacity(self.0.len() + key.len() + 1);
        text.push_str(&self.0);
        text.push('/');
        for c in key.chars() {
            match c {
                '~' => text.push_str("~0"),
                '/' => text.push_str("~1"),
                c => text.push(c),
            }
        }
        Self(text)
    }

    /// The element `index` of this array.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// The printed form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Pointer;

    #[test]
    fn escapes_as_the_rfc_says() {
        let p = Pointer::root().key("a/b").index(0).key("m~n").key("");
        assert_eq!(p.as_str(), "/a~1b/0/m~0n/");
        assert_eq!(Pointer::root().as_str(), "");
    }
}
