//! [`Path`]: where an item lies. Folders have settings that items in them inherit; a path needs no folder to be one.

use std::fmt;

/// The longest path, in bytes.
pub const MAX_PATH: usize = 1024;

/// The most folders one within another: each is looked up for what an item inherits.
pub const MAX_DEPTH: usize = 16;

/// A path with a slash at either end: `/`, `/keys/`, `/keys/old ones/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(String);

impl Path {
    /// The path of everything.
    pub fn root() -> Self {
        Self("/".to_owned())
    }

    /// Reads a path, absolute or not, of the characters that the vendor's schema allows
    /// (`^[0-9a-zA-Z_\.\-/ ]*$`). `None` for others, for `.` and `..`, and for what is too long or deep.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(&byte);
        if text.len() > MAX_PATH || !text.bytes().all(plain) {
            return None;
        }
        let mut path = "/".to_owned();
        let mut depth = 0;
        for segment in text.split('/').map(str::trim).filter(|segment| !segment.is_empty()) {
            depth += 1;
            if depth > MAX_DEPTH || segment == "." || segment == ".." {
                return None;
            }
            path.push_str(segment);
            path.push('/');
        }
        Some(Self(path))
    }

    /// The folder of this name in it. `None` if no folder can have that name there.
    pub fn join(&self, name: &str) -> Option<Self> {
        let joined = Self::parse(&format!("{}{name}", self.0))?;
        (!name.contains('/') && joined != *self).then_some(joined)
    }

    /// As it is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is this path or below it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// It and those above it, the nearest first, without the root.
    pub fn upwards(&self) -> impl Iterator<Item = Self> + '_ {
        let ends = self.0.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        let ends: Vec<usize> = ends.collect();
        ends.into_iter().rev().filter_map(|at| self.0.get(..=at).map(|path| Self(path.to_owned())))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_canonical() {
        let rows = [
            ("", Some("/")),
            ("/", Some("/")),
            ("updated", Some("/updated/")),
            ("//a// b /c.d", Some("/a/b/c.d/")),
            ("/a/../b", None),
            ("/a/./b", None),
            ("/a\u{e9}", None),
            ("/a\\b", None),
        ];
        for (text, path) in rows {
            assert_eq!(Path::parse(text).as_ref().map(Path::as_str), path, "{text}");
        }
        assert!(Path::parse(&"a/".repeat(MAX_DEPTH)).is_some());
        assert!(Path::parse(&"a/".repeat(MAX_DEPTH + 1)).is_none());
        assert!(Path::parse(&"a".repeat(MAX_PATH + 1)).is_none());
    }

    #[test]
    fn folders_are_within_folders() {
        let path = Path::parse("/a/b c/d").unwrap();
        let upwards: Vec<String> = path.upwards().map(|path| path.to_string()).collect();
        assert_eq!(upwards, ["/a/b c/d/", "/a/b c/", "/a/"]);
        assert_eq!(Path::root().upwards().count(), 0);
        assert!(path.is_within(&Path::root()) && path.is_within(&path));
        assert!(!path.is_within(&Path::parse("/a/b").unwrap()));
        assert_eq!(Path::root().join("x"), Path::parse("x"));
        assert!(["", "/", "a/b", " "].iter().all(|name| Path::root().join(name).is_none()));
    }
}
