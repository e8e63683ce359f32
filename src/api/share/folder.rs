//! [`Folder`]: a path of names; the empty path is the root.

/// The longest path, in bytes, and the longest name, in characters.
const LONGEST: (usize, usize) = (1024, 255);

/// A folder's path, `/a/b`; the root is `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Folder(String);

impl Folder {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads a path; a slash at the beginning or the end, or twice, says nothing. `None` if a name in it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut path = String::new();
        for name in text.split('/').filter(|name| !name.is_empty()) {
            path.push('/');
            path.push_str(is_name(name).then_some(name)?);
        }
        (path.len() <= LONGEST.0).then_some(Self(path))
    }

    /// The path as it is shown.
    pub fn as_str(&self) -> &str {
        if self.0.is_empty() { "/" } else { &self.0 }
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The folder `name` in this one; `None` if that is too long, or no name.
    pub fn below(&self, name: &str) -> Option<Self> {
        let path = format!("{}/{name}", self.0);
        (is_name(name) && path.len() <= LONGEST.0).then_some(Self(path))
    }

    /// The folder that it lies in, and its name there; `None` for the root.
    pub fn split(&self) -> Option<(Self, &str)> {
        let (parent, name) = self.0.rsplit_once('/')?;
        Some((Self(parent.to_owned()), name))
    }

    /// Whether `other` is this folder, or lies in it at any depth.
    pub fn holds(&self, other: &Self) -> bool {
        other.0.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Whether this can be the name of a file or folder: no slash, no control characters, not what paths mean by dots.
pub(super) fn is_name(text: &str) -> bool {
    let length = text.chars().count();
    (1..=LONGEST.1).contains(&length)
        && !text.chars().any(|c| c == '/' || c.is_control())
        && !matches!(text, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_shown() {
        let rows = [
            ("", Some("/")),
            ("/", Some("/")),
            ("a", Some("/a")),
            ("/a//b c/", Some("/a/b c")),
            ("/a/../b", None),
            ("./a", None),
            ("a\u{0}b", None),
        ];
        for (text, path) in rows {
            assert_eq!(Folder::parse(text).as_ref().map(Folder::as_str), path, "{text:?}");
        }
        let (a, ab) = (Folder::parse("a").unwrap(), Folder::parse("ab/c").unwrap());
        assert!(Folder::root().holds(&a) && a.holds(&a) && !a.holds(&ab));
        assert_eq!(ab.split(), Some((Folder::parse("ab").unwrap(), "c")));
        assert_eq!(Folder::root().split(), None);
        assert!(Folder::parse(&"x/".repeat(600)).is_none() && a.below("b/c").is_none());
    }
}
