//! Whose API a route leads to.

use portcullis::config::settings::Provider;

use super::{lines, read};

const PROVIDERS: &str = include_str!("../../conf/providers.toml");

/// One route to one upstream.
fn route(peer: &str, said: &str) -> String {
    format!(
        "[upstreams.a]\npeers = [\"{peer}\"]\n[[routes]]\nname = \"a\"\npath = \"/a\"\nupstream = \"a\"\n\
         auth = \"none\"\n{said}\n"
    )
}

#[test]
fn the_file_of_all_providers_names_each_as_its_address_shows_it() {
    let config = read(PROVIDERS).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(config.warnings, []);
    for route in &config.routes {
        let upstream = &config.upstreams[route.upstream.as_ref().unwrap().as_str()];
        let known = Provider::at(&upstream.peers[0]).unwrap_or(Provider::Mcp);
        assert_eq!((*route.provider, route.provider.name()), (known, route.name.as_str()));
        assert_eq!(*route.strip_prefix, known != Provider::Mcp, "{}", *route.name);
    }
    assert_eq!(config.routes.len(), 10);
}

#[test]
fn bodies_of_a_known_provider_that_are_read_as_anyones_are_doubted_with_their_place() {
    let rows = [
        (
            "https://api.anthropic.com",
            "provider = \"generic\"\nredact = {}",
            Some((8, "Anthropic", "anthropic")),
        ),
        (
            "https://api.openai.com",
            "redact = { protocol = \"generic\" }",
            Some((8, "OpenAI's API", "openai")),
        ),
        ("http://localhost:11434", "provider = \"generic\"\nredact = {}", Some((8, "Ollama", "ollama"))),
        ("https://api.anthropic.com", "provider = \"generic\"", None),
        ("https://api.anthropic.com", "provider = \"anthropic\"\nredact = {}", None),
        ("https://api.anthropic.com", "redact = {}", None),
        ("https://llm.example.com", "provider = \"generic\"\nredact = {}", None),
    ];
    for (peer, said, doubt) in rows {
        let config = read(&route(peer, said)).unwrap_or_else(|problems| panic!("{problems}"));
        let shown: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
        let want = doubt.map(|(line, title, name)| {
            let column = if said.starts_with("redact") { 23 } else { 12 };
            format!(
                "test.toml:{line}:{column}: bodies are read as of no protocol, and the upstream's address is one of \
                 {title} (write provider = \"{name}\" on the route)"
            )
        });
        assert_eq!(shown, want.into_iter().collect::<Vec<_>>(), "{peer} {said}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let rows = [
        ("provider = \"chatgpt\"", "8:12: expected \"auto\", \"generic\", \"openai\""),
        (
            "provider = \"openai\"\nredact = { protocol = \"openai\" }",
            "9:23: a route has only one of `provider` and `protocol` (`provider` of the route says it already)",
        ),
    ];
    for (said, want) in rows {
        let told = lines(read(&route("https://llm.example.com", said)));
        assert!(told.len() == 1 && told[0].starts_with(&format!("test.toml:{want}")), "{said}: {told:?}");
    }
    let text = route("https://llm.example.com", "strip_prefix = true").replace("path = \"/a\"\n", "");
    let want = "test.toml:7:16: `strip_prefix` needs `path`: that is what is left out";
    assert_eq!(lines(read(&text)), [want]);
    let text = "[[routes]]\nname = \"a\"\npath = \"/a\"\nrespond = { status = 404 }\nstrip_prefix = true\n\
                provider = \"openai\"\n";
    let want = [
        "test.toml:5:16: `strip_prefix` needs an `upstream`",
        "test.toml:6:12: `provider` needs an `upstream`",
    ];
    assert_eq!(lines(read(text)), want);
}
