//! [`PathRewrite`]: what a route makes of the beginning of a path on its way to the upstream, and of URLs on their way back.

use std::sync::Arc;

use crate::base::path::RequestPath;

/// What becomes of the beginning of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRewrite {
    /// How many segments at the beginning of a path the upstream is not asked for: those of the route's prefix.
    pub strip: usize,
    /// What stands there instead, as [`RequestPath::sent`]; does not end with `/`. Empty: nothing.
    pub put: Arc<str>,
}

impl PathRewrite {
    /// The path that the upstream is asked for; `None`: the caller's.
    pub fn asked(&self, path: &RequestPath) -> Option<RequestPath> {
        (self.strip > 0 || self.replaces()).then(|| path.replaced(self.strip, &self.put))
    }

    /// Whether something stands in the place of what is left out.
    pub fn replaces(&self) -> bool {
        !self.put.is_empty()
    }

    /// How callers ask for what the upstream calls `target`, a path perhaps with a query, where the route's own prefix is
    /// `prefix`. What the route never asks for stays: no request along it gets there.
    pub fn undone(&self, prefix: &str, target: &str) -> String {
        let slash = if target.starts_with('/') { "" } else { "/" };
        let below = |rest: &&str| rest.is_empty() || rest.starts_with(['/', '?', '#']);
        match target.strip_prefix(&*self.put).filter(below) {
            _ if !self.replaces() => format!("{prefix}{slash}{target}"),
            Some(rest) if prefix.is_empty() && !rest.starts_with('/') => format!("/{rest}"),
            Some(rest) => format!("{prefix}{rest}"),
            None => format!("{slash}{target}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewrite(strip: usize, put: &str) -> PathRewrite {
        PathRewrite { strip, put: put.into() }
    }

    #[test]
    fn a_path_goes_out_as_the_route_says() {
        let rows = [
            (rewrite(0, ""), "/v1/x", None),
            (rewrite(1, ""), "/v1/x", Some("/x")),
            (rewrite(1, "/v2"), "/v1/x", Some("/v2/x")),
            (rewrite(1, "/v2"), "/v1", Some("/v2")),
            (rewrite(0, "/v2"), "/v1/x", Some("/v2/v1/x")),
        ];
        for (rewrite, path, want) in rows {
            let asked = rewrite.asked(&RequestPath::parse(path).unwrap());
            assert_eq!(asked.as_ref().map(RequestPath::sent), want, "{rewrite:?} {path}");
        }
    }

    #[test]
    fn what_the_upstream_names_is_asked_for_as_callers_do() {
        let rows = [
            (rewrite(0, ""), "", "/v1/x", "/v1/x"),
            (rewrite(1, ""), "/llm", "/v1/x?a=/b", "/llm/v1/x?a=/b"),
            (rewrite(1, ""), "/llm", "", "/llm/"),
            (rewrite(1, ""), "/llm", "?a", "/llm/?a"),
            (rewrite(1, "/v2"), "/v1", "/v2/x", "/v1/x"),
            (rewrite(1, "/v2"), "/v1", "/v2", "/v1"),
            (rewrite(1, "/v2"), "/v1", "/v2/", "/v1/"),
            (rewrite(1, "/v2"), "/v1", "/v2?a=/v2/b", "/v1?a=/v2/b"),
            (rewrite(1, "/v2"), "/v1", "/v2#a", "/v1#a"),
            (rewrite(1, "/v2"), "/v1", "/v20/x", "/v20/x"),
            (rewrite(1, "/v2"), "/v1", "/other/v2/x", "/other/v2/x"),
            (rewrite(1, "/v2"), "/v1", "", "/"),
            (rewrite(2, "/a/b"), "/c/d", "/a/b/x", "/c/d/x"),
            (rewrite(0, "/v2"), "", "/v2/x", "/x"),
            (rewrite(0, "/v2"), "", "/v2", "/"),
            (rewrite(0, "/v2"), "", "/v2?a", "/?a"),
        ];
        for (rewrite, prefix, target, want) in rows {
            assert_eq!(rewrite.undone(prefix, target), want, "{rewrite:?} {prefix} {target}");
        }
    }

    proptest! {
        /// Whatever is asked for: what goes out begins with what the route says, goes on as the caller wrote it, is what it
        /// would be if it were received, and comes back as it went.
        #[test]
        fn no_path_leaves_what_the_route_puts_before_it(
            below in "(/|[ab.;%\\\\]|%2[eEfF5]|%5[cC]|%3[aAbBfF]|%[0-9a-fA-F]{2}){0,20}",
            prefix in prop::sample::select(vec!["/a", "/a/b"]),
            put in prop::sample::select(vec!["", "/v2", "/a", "/x%2Fy/z"]),
        ) {
            let Ok(path) = RequestPath::parse(&format!("{prefix}{below}")) else { return Ok(()) };
            // As a route takes it.
            let rest = path.compared().strip_prefix(prefix);
            if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
                return Ok(());
            }
            let rewrite = rewrite(prefix.matches('/').count(), put);
            let asked = rewrite.asked(&path).unwrap();
            let rest = path.sent().strip_prefix(prefix).unwrap();
            let whole = format!("{put}{rest}");
            prop_assert_eq!(asked.sent(), if whole.is_empty() { "/" } else { &whole });
            let received = RequestPath::parse(asked.sent());
            prop_assert_eq!(received.as_ref(), Ok(&asked));
            prop_assert!(!asked.sent().split('/').any(|segment| matches!(segment, "." | "..")));
            if rewrite.replaces() {
                prop_assert_eq!(rewrite.undone(prefix, asked.sent()), path.sent());
            }
        }
    }
}
