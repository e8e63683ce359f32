//! The configuration from outside: whole files in, checked settings or all problems out.

use std::collections::BTreeMap;
use std::path::Path;

use portcullis::config::settings::{
    Admin, Answers, Api, Auth, Blobs, Limits, Listen, Log, PathMatch, Redact, Requests, S3, Sanitize, Scheme,
    Store, Terminal, Vault,
};
use portcullis::config::{CompiledRules, Config, Options, Problems, Size, embedded, load, parse, reload};
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use portcullis::gateway::upstream::{BreakerLimits, Ejection, Http, Probe, Timeouts};
use proptest::prelude::*;

const FULL: &str = include_str!("../conf/portcullis.toml");
#[path = "config/aws.rs"]
mod aws;
#[path = "config/certificates.rs"]
mod certificates;
#[path = "config/ext_proc.rs"]
mod ext_proc;
/// The built-in rules.
#[path = "config/files.rs"]
mod files;
#[path = "config/providers.rs"]
mod providers;

fn rules() -> Catalogue {
    Catalogue::builtin().unwrap_or_else(|error| panic!("{error}"))
}

fn env(vars: &[(&str, &str)]) -> BTreeMap<String, String> {
    vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn read(text: &str) -> Result<Config, Problems> {
    parse(text, "test.toml", &env(&[("SET", "hunter2")]), &rules())
}

fn lines(result: Result<Config, Problems>) -> Vec<String> {
    result.err().iter().flat_map(Problems::iter).map(ToString::to_string).collect()
}

#[test]
fn the_files_in_conf_load() {
    let conf = Path::new(env!("CARGO_MANIFEST_DIR")).join("conf");
    for name in ["minimal.toml", "portcullis.toml", "providers.toml"] {
        let loaded = load(&conf.join(name), &env(&[]), &rules());
        assert!(loaded.is_ok(), "{}", lines(loaded).join("\n"));
    }
}

#[test]
fn the_minimal_file_redacts_and_restores() {
    let config = read(include_str!("../conf/minimal.toml")).unwrap();
    let route = &config.routes[0];
    assert_eq!(route.terminal(), Terminal::Upstream("openai"));
    assert_eq!(route.auth(), Auth::None);
    assert!(matches!(route.path(), PathMatch::Prefix("/")));
    let redact = route.redact.as_ref().unwrap();
    assert_eq!((*redact.requests, redact.answers()), (Requests::Encrypt, Answers::Restore));
    assert_eq!(config.upstreams["openai"].peers[0].scheme(), Scheme::Https);
}

#[test]
fn rules_are_switched_by_name_or_by_set() {
    let catalogue = &rules();
    let on = |redact: &str| {
        let text = format!(
            "[upstreams.a]\npeers = [\"http://127.0.0.1:1\"]\n[[routes]]\nname = \"r\"\npath = \"/\"\nupstream = \"a\"\nauth = \"none\"\n\
             redact = {{ {redact} }}\n"
        );
        let config = read(&text).unwrap();
        let selection = config.routes[0].redact.as_ref().unwrap().selection(catalogue).unwrap();
        move |rule: &str| selection.has(catalogue.find(rule).unwrap())
    };
    let secrets = on("rules = [\"SECRETS\", \"DATE_TIME\"]");
    assert!(secrets("PASSWORD") && secrets("DATE_TIME") && !secrets("EMAIL_ADDRESS"));
    let persons = on("without = [\"PII\"], with = [\"PERSON\", \"NETWORK\"]");
    assert!(persons("PERSON") && persons("MAC_ADDRESS") && persons("PASSWORD") && !persons("PHONE_NUMBER"));
    let wrong = lines(read(
        "[[routes]]\nname = \"r\"\npath = \"/\"\nauth = \"none\"\nredact = { with = [\"SECRET\"] }\n",
    ));
    assert!(wrong.iter().any(|line| line.contains("there is no rule `SECRET`")), "{wrong:?}");
}

#[test]
fn the_full_file_shows_the_defaults() {
    let config = read(FULL).unwrap();
    assert_eq!(*config.listen[0], Listen::default());
    assert_eq!(config.admin, Some(Admin::default()));
    assert_eq!(config.vault, Vault::default());
    assert_eq!(config.store, Store::default());
    assert_eq!(config.log, Log::default());
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.api, Api::default());
    assert_eq!(config.sanitize, Sanitize::default());
    let openai = &config.upstreams["openai"];
    assert_eq!((openai.http, &openai.timeouts), (Http::Auto, &Timeouts::default()));
    assert_eq!(openai.outliers, Ejection::default());
    assert_eq!(**openai.tls.as_ref().unwrap(), config.upstreams["local"].tls());
    let redact = config.routes[0].redact.as_ref().unwrap();
    assert_eq!(redact.answers(), Redact::default().answers());
    assert_eq!(redact.remember(), Redact::default().remember());
    let silent = Redact { answers: None, remember: None, ..(**redact).clone() };
    assert_eq!(silent, Redact::default());
}

/// `#key = value` and `#[[table]]` are settings, `# text` is not.
fn uncommented() -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => rest.to_owned(),
        _ => line.to_owned(),
    };
    FULL.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_the_full_file_comments_out_is_right_but_for_what_needs_something_of_yours() {
    let known = [
        "there is no such file",
        "there is no such file or folder; examples/names-model brings the model into one",
        "the environment variable `PORTCULLIS_MASTER_KEY` is not set",
        "the environment variable `PORTCULLIS_STORE_URL` is not set",
        "the environment variable `PORTCULLIS_S3_KEY` is not set",
        "the environment variable `PORTCULLIS_S3_SECRET` is not set",
        "the environment variable `OPENAI_AUTHORIZATION` is not set",
        "the environment variable `BEDROCK_ACCESS_KEY` is not set",
        "the environment variable `BEDROCK_SESSION_TOKEN` is not set",
        "the environment variable `INTEL_AUTHORIZATION` is not set",
        "the environment variable `TENANT_KEY` is not set",
        "the environment variable `COLLECTOR_KEY` is not set",
        "the environment variable `INTROSPECTION_SECRET` is not set",
        "[routes.introspection] does nothing here",
        "a route has only one of `jwt` and `introspection`: both say who calls",
        "the master key is already said to be elsewhere",
        "the environment variable `S3_KEY` is not set",
        "the environment variable `S3_SECRET` is not set",
        "a route has only one of `path` and `pattern`",
        "`rules` is the whole set already",
        "`conversation_header` needs tweak = \"conversation\"",
        "[routes.certificate] is for callers that must have one",
        "`models` needs a route to an upstream with `auth = \"token\"`",
    ];
    let problems = read(&uncommented()).unwrap_err();
    for problem in problems.iter() {
        assert!(known.contains(&problem.message.as_str()), "{problem}");
    }
    assert!(problems.iter().count() >= 7, "{problems}");
}

mod keys {
    //! The keys a settings type has, as its `Deserialize` announces them.
    use serde::de::value::Error;
    use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
    use serde::forward_to_deserialize_any;

    struct Ask;

    impl<'de> Deserializer<'de> for Ask {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error::custom(""))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Error> {
            Err(Error::custom(fields.join(" ")))
        }

        forward_to_deserialize_any! {
            bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    pub(crate) fn of<T: DeserializeOwned>() -> Vec<String> {
        let announced = T::deserialize(Ask).err().map(|e| e.to_string()).unwrap_or_default();
        announced.split(' ').map(str::to_owned).collect()
    }
}

#[test]
fn the_full_file_shows_every_key() {
    use portcullis::config::settings::{
        AllowedValues, Analyzer, Audit, AuditOtlp, Aws, Budget, Certificate, CertificateHeaders, ClamdSocket,
        Clients, Compression, Cors, Detect, FileLimits, HeaderRules, Intel, Introspection, JwkSource, Jwks,
        Jwt, ListenTls, Mail, Model, ModelTarget, Names, Otlp, Rate, Reload, RemoteIntel, Respond, Route,
        RouteCertificate, Scan, Settings, Share, SharedLimits, Sign, Telemetry, TokenPlace, Upgrade,
        Upstream, UpstreamTls, Usage, WebSocket,
    };
    use portcullis::usage::ModelPrice;
    macro_rules! keys_of {
        ($($settings:ty)*) => { [$(keys::of::<$settings>()),*] };
    }
    let all = keys_of! {
        Settings Store Listen ListenTls Admin Vault Blobs S3 Log Limits Api Upstream
        UpstreamTls Aws Timeouts Ejection BreakerLimits Probe Route Respond Rate Jwt JwkSource TokenPlace Sign Jwks Redact
        Sanitize Scan ClamdSocket Intel RemoteIntel FileLimits Clients Reload Upgrade Telemetry Otlp Detect AllowedValues
        Audit Usage ModelPrice Budget Model ModelTarget Certificate RouteCertificate CertificateHeaders Cors HeaderRules
        Analyzer AuditOtlp Compression Introspection Mail Names Share SharedLimits WebSocket
    };
    let text = uncommented();
    for key in all.iter().flatten() {
        let shown = [format!("{key} ="), format!("[{key}"), format!(".{key}]"), format!(".{key}.")];
        assert!(!key.is_empty() && shown.iter().any(|form| text.contains(form)), "`{key}` is not shown");
    }
}

#[test]
fn five_mistakes_are_reported_with_line_and_column() {
    let text = r#"[[listen]]
adress = "127.0.0.1:8080"
address = "127.0.0.1:8080"

[limits]
body = 128

[upstreams.openai]
peers = ["https://api.openai.com"]

[[routes]]
name = "chat"
path = "/v1"
upstream = "opnai"
auth = "jwt"

[[routes]]
name = "files"
pattern = "/files/("
upstream = "openai"
auth = "none"
"#;
    let want = [
        "test.toml:2:1: unknown key `adress` (did you mean `address`?)",
        "test.toml:6:8: expected a size such as \"64KiB\", found an integer",
        "test.toml:14:12: there is no [upstreams.opnai] (did you mean `openai`?)",
        "test.toml:15:8: expected \"token\", \"certificate\", \"introspection\" or \"none\"",
        "test.toml:19:11: not a regular expression: unclosed group",
    ];
    assert_eq!(lines(read(text)), want);
}

#[test]
fn broken_syntax_does_not_hide_the_rest() {
    let text = r#"[[listen]
address = "127.0.0.1:8080"

[log]
level = info
format = "jsn"

[upstreams.a]
peers = [
    "https://api.openai.com"
    "https://127.0.0.1"
]

[upstreams.b]
peers = ["http://127.0.0.1:9100"]
timeouts = { connect = "5s"

[[routes]]
name "r"
path = "/r"
upstream = "b"
auth = "none"

[[routes]]
upstream = "c"
auth = "none"
"#;
    let want = [
        "test.toml:1:10: unclosed array table, expected `]`",
        "test.toml:5:9: not a value of TOML; text must stand in quotes",
        "test.toml:6:10: expected \"text\" or \"json\" (did you mean `json`?)",
        "test.toml:11:5: missing comma between array elements, expected `,`",
        "test.toml:16:12: what begins here is not closed, or lacks a comma",
        "test.toml:19:6: a key without a value, expected `=`",
        "test.toml:25:12: there is no [upstreams.c]",
    ];
    assert_eq!(lines(read(text)), want);
}

#[test]
fn paths_and_secrets_begin_at_the_files_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("key.pem"), "pem").unwrap();
    std::fs::write(at("token"), "hunter3\r\n").unwrap();
    let text = r#"
data = "state"
listen = [{ address = "127.0.0.1:0", tls = { certificate = "key.pem", key = "key.pem" } }]
[vault]
master_key = { env = "SET" }
[upstreams.a]
peers = ["https://127.0.0.1"]
headers = { one = "hunter1", two = { env = "SET" }, three = { file = "token" } }
[[routes]]
name = "r"
upstream = "a"
auth = "none"
request_headers = { set = { two = { env = "SET" } }, add = { three = { file = "token" } } }
answer_headers = { set = { one = "hunter1" }, add = { three = { file = "token" } } }
"#;
    std::fs::write(at("gate.toml"), text).unwrap();
    let config = load(&at("gate.toml"), &env(&[("SET", "hunter2")]), &rules()).unwrap();
    assert_eq!(*config.data, at("state"));
    assert_eq!(*config.listen[0].tls.as_ref().unwrap().certificate, at("key.pem"));
    assert_eq!(config.vault.master_key.as_ref().unwrap().value().expose(), "hunter2");
    let headers = &config.upstreams["a"].headers;
    for (name, want) in [("one", "hunter1"), ("two", "hunter2"), ("three", "hunter3")] {
        assert_eq!(headers[name].supplied().unwrap().value().expose(), want);
        for rules in
            [&config.routes[0].request_headers, &config.routes[0].answer_headers].into_iter().flatten()
        {
            let found = rules.set.get(name).or(rules.add.get(name));
            assert!(found.is_none_or(|value| value.value().expose() == want), "{name}");
        }
    }
    assert!(!format!("{config:?}").contains("hunter"));
}

#[test]
fn a_file_that_is_not_there_is_one_clear_problem() {
    let problems = load(Path::new("no/such.toml"), &env(&[]), &rules()).unwrap_err();
    assert_eq!(problems.to_string(), "no/such.toml: there is no such file");
}

#[test]
fn without_a_file_the_command_line_is_enough() {
    let nothing = embedded(&Options::default(), &env(&[]), &rules()).unwrap();
    assert_eq!(nothing.listen[0].address.to_string(), "127.0.0.1:8080");
    assert_eq!(nothing.admin, Some(Admin::default()));
    assert_eq!(*nothing.data, Path::new("./data"));
    assert!(nothing.routes.is_empty() && nothing.api.enabled);

    let options = Options {
        upstream: Some("http://127.0.0.1:9100/base/".to_owned()),
        listen: "127.0.0.1:0".parse().ok(),
        ..Options::default()
    };
    let config = embedded(&options, &env(&[("HOME", "/h")]), &rules()).unwrap();
    assert_eq!(*config.data, Path::new("/h/.local/share/portcullis"));
    assert_eq!(config.listen[0].address.port(), 0);
    let route = &config.routes[0];
    assert_eq!(route.auth(), Auth::None);
    assert_eq!(route.redact.as_ref().unwrap().answers(), Answers::Restore);
    let Terminal::Upstream(name) = route.terminal() else { panic!("not an upstream") };
    let upstream = &config.upstreams[name];
    assert_eq!(upstream.peers[0].to_string(), "http://127.0.0.1:9100");
    assert_eq!(upstream.base.as_ref().unwrap().as_str(), "/base");

    let data =
        embedded(&Options::default(), &env(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), &rules()).unwrap();
    assert_eq!(*data.data, Path::new("/x/portcullis"));
}

#[test]
fn a_bad_command_line_is_refused() {
    let cases = [
        ("api.openai.com", "--upstream: not a URL, write one such as \"https://api.openai.com\""),
        (
            "http://u:hunter2@a",
            "--upstream: a URL with a user or password is refused, put credentials under `headers`",
        ),
        ("ws://a", "--upstream: the URL must begin with http:// or https://"),
    ];
    for (url, want) in cases {
        let options = Options { upstream: Some(url.to_owned()), ..Options::default() };
        assert_eq!(lines(embedded(&options, &env(&[]), &rules())), [want]);
    }
    let twice = Options { listen: "127.0.0.1:9180".parse().ok(), ..Options::default() };
    assert_eq!(
        lines(embedded(&twice, &env(&[]), &rules())),
        ["command line: another listener has this address already"]
    );
}

#[test]
fn no_problem_shows_a_value() {
    let values = [
        "\"hunter2\"",
        "{ env = \"SET\" }",
        "{ hunter = \"hunter2\" }",
        "[\"hunter2\"]",
        "\"\"\"hunter2\n\"\"\"",
    ];
    let keys = [
        "data = V",
        "listen = V",
        "listen = [{ address = V }]",
        "admin.address = V",
        "vault.master_key = V",
        "vault.master_key_command = V",
        "vault.passphrase = V",
        "store.url = V",
        "store = { tls = V, ca = V, connections = V, timeout = V }",
        "log.level = V",
        "limits.body = V",
        "limits.drain = V",
        "api.enabled = V",
        "api.dialect = V",
        "jwks = { items = [V], max_age = V }",
        "routes = [{ sign = { key = V, issuer = V, audiences = [V], lifetime = V, header = V, reuse = V } }]",
        "upstreams.a.peers = [V]",
        "upstreams.a = { peers = [], http = V, tls = { sni = V, ca = V } }",
        "upstreams.a = { peers = [\"http://a\"], headers = { a = V }, base = V }",
        "routes = [{ method = [V] }]",
        "routes = [{ pattern = V, host = [V], path = V }]",
        "routes = [{ respond = { status = V } }]",
        "routes = [{ rate = { requests = V, per = V, by = V }, auth = V, max_body = V, endpoint = V }]",
        "routes = [{ redact = { requests = V, answers = V, methods = { US_SSN = V } } }]",
    ];
    for (key, value) in keys.iter().flat_map(|key| values.map(|value| (key, value))) {
        let text = key.replace('V', value);
        let said = lines(read(&text)).join("\n");
        assert!(!said.contains("hunter2"), "{text}\n{said}");
    }
}

proptest! {
    /// Whatever is cut out of a file, reading it ends, and points into the file.
    #[test]
    fn a_damaged_file_is_read_or_refused(from in 0..FULL.len(), length in 0usize..200) {
        let bytes: Vec<u8> = FULL.bytes().enumerate().filter(|(i, _)| !(from..from + length).contains(i)).map(|(_, b)| b).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Err(problems) = read(&text) {
            let lines = text.lines().count();
            for problem in problems.iter() {
                prop_assert!((1..=lines + 1).contains(&problem.line), "{}", problem);
                prop_assert!(problem.column >= 1, "{}", problem);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([a-z.\\[\\]{}=\",'# \\n0-9é]|\\[\\[routes\\]\\]\\n|redact|path = ){0,60}") {
        let _ = read(&text).is_ok();
    }

    #[test]
    fn sizes_arrive_as_written(bytes in 1usize..(1 << 27)) {
        let size = Size::new(bytes);
        let config = read(&format!("[limits]\nbody = \"{size}\"\n")).unwrap();
        prop_assert_eq!(config.limits.body.bytes(), bytes);
    }
}

/// Small bad files and all that is said about them: files part at `%%`, `!` begins what is said (line:column:
/// message).
#[test]
fn bad_files_are_told_what_is_wrong() {
    let mut all = 0;
    for case in include_str!("config/bad.txt").split("%%\n") {
        let (said, file): (Vec<&str>, Vec<&str>) = case.lines().partition(|line| line.starts_with('!'));
        let file = file.join("\n");
        let want: Vec<String> =
            said.iter().map(|line| format!("test.toml:{}", line.trim_start_matches("! "))).collect();
        assert!(!want.is_empty(), "nothing is expected of\n{file}");
        assert_eq!(lines(read(&file)), want, "\n{file}");
        all += 1;
    }
    assert!(all > 40);
}
