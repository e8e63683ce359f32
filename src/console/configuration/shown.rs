//! A configuration's text without secrets. Values of settings that may be secret are gone from it already; what looks like a
//! secret anywhere else, such as in a comment, is taken out by the rules for secrets.

use crate::config::Config;
use crate::detect::{Detector, RuleSelection};

/// The text; `None` where there is no file.
pub(super) fn shown(config: &Config) -> Option<String> {
    let text = config.text.as_deref()?;
    let selection = RuleSelection::sets(&config.catalogue, ["secrets"]).ok()?;
    let detector = Detector::new(&config.catalogue, &selection).ok()?;
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for found in detector.find(text) {
        shown.push_str(text.get(from..found.span.start).unwrap_or_default());
        shown.push_str("(hidden)");
        from = found.span.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProcessEnv, parse};
    use crate::detect::Catalogue;

    #[test]
    fn secrets_are_not_shown_wherever_they_stand() {
        let key = format!("sk-ant-api03-{}AA", "aB3_dE5-".repeat(11) + "aB3dE");
        let text = format!(
            "# before: {key}\ndata = 'd'\n[upstreams.a]\npeers = ['http://127.0.0.1:1']\n\
             headers = {{ authorization = \"Bearer tok\\u0065n-of-ours\", 'x-b' = {{ env = 'HOME' }} }}\n\
             [[routes]]\nname = 'one'\nauth = 'none'\nupstream = 'a'\n"
        );
        let config = parse(&text, "test.toml", &ProcessEnv, &Catalogue::builtin().unwrap()).unwrap();
        let shown = shown(&config).unwrap();
        assert!(!shown.contains("of-ours") && !shown.contains(&key), "{shown}");
        assert_eq!(shown.matches("(hidden)").count(), 2, "{shown}");
        assert!(shown.contains("name = 'one'") && shown.contains("env = 'HOME'"), "{shown}");
    }
}
