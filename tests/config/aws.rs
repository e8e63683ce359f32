//! Keys of AWS: from the file, from the environment, and where neither has them.

use portcullis::config::settings::Aws;
use portcullis::config::{Credential, SecretSource};

use super::*;

const KEYS: &[(&str, &str)] = &[("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];

/// What the upstream of this text signs with.
fn aws(text: &str, vars: &[(&str, &str)]) -> Option<Aws> {
    let config = parse(text, "test.toml", &env(vars), &rules());
    let config = config.unwrap_or_else(|problems| panic!("{problems}"));
    config.upstreams["a"].aws.as_deref().cloned()
}

fn key(aws: &Aws) -> (&str, &str, Option<&str>) {
    let Aws { access_key: Some(id), secret_key: Some(secret), session_token, .. } = aws else {
        panic!("no keys")
    };
    (value(id), value(secret), session_token.as_ref().map(|token| value(token)))
}

/// What is not in the vault.
fn value(credential: &Credential) -> &str {
    let Some(supplied) = credential.supplied() else { panic!("it is in the vault") };
    supplied.value().expose()
}

#[test]
fn keys_come_from_the_file_else_from_the_environment() {
    let plain = "[upstreams.a]\npeers = ['https://x.example.com']\n";
    assert_eq!(aws(plain, &[]), None);
    assert_eq!(aws(plain, &KEYS[..1]), None);
    assert_eq!(aws(plain, &[KEYS[0], ("AWS_SECRET_ACCESS_KEY", " ")]), None, "an empty variable is none");
    assert_eq!(
        aws(plain, &[KEYS[0], ("AWS_SECRET_ACCESS_KEY", "no key")]),
        None,
        "nor does one that is no key stop anything"
    );

    // Without the table: only what callers have signed, and for the region that they have.
    let region = [KEYS, &[("AWS_REGION", "eu-west-1")]].concat();
    let implied = aws(plain, &region).unwrap();
    assert_eq!(
        (key(&implied), implied.implied, implied.region.is_none()),
        (("AKIDEXAMPLE", "hunter2", None), true, true)
    );
    assert_eq!(implied.service.as_str(), "bedrock");

    let token = [&region[..], &[("AWS_SESSION_TOKEN", "token")]].concat();
    let table = aws(&format!("{plain}aws = {{}}"), &token).unwrap();
    assert_eq!((key(&table), table.implied), (("AKIDEXAMPLE", "hunter2", Some("token")), false));
    assert_eq!(
        table.access_key.unwrap().supplied().unwrap().source(),
        &SecretSource::Env("AWS_ACCESS_KEY_ID".to_owned())
    );

    // A token of the environment does not belong to keys of the file.
    let own = aws(
        &format!("{plain}aws = {{ access_key = 'A', secret_key = {{ env = 'MINE' }} }}"),
        &[&token[..], &[("MINE", "m")]].concat(),
    );
    assert_eq!(key(&own.unwrap()), ("A", "m", None));
}

#[test]
fn the_region_is_said_or_that_of_the_host_or_of_the_environment() {
    let of = |host: &str, said: &str, vars: &[(&str, &str)]| {
        let text = format!(
            "[upstreams.a]\npeers = ['https://{host}']\naws = {{ access_key = 'A', secret_key = 's'{said} }}"
        );
        aws(&text, vars).unwrap().region.unwrap().to_string()
    };
    let runtime = "bedrock-runtime.us-east-1.amazonaws.com";
    let vars: &[(&str, &str)] = &[("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "eu-west-2")];
    assert_eq!(of(runtime, ", region = 'us-west-2'", vars), "us-west-2");
    assert_eq!(of(runtime, "", vars), "us-east-1");
    assert_eq!(of("x.example.com", "", vars), "eu-west-1");
    assert_eq!(of("x.example.com", "", &vars[1..]), "eu-west-2");
    assert_eq!(of("x.example.com", "", &[("AWS_REGION", ""), vars[1]]), "eu-west-2");
}

#[test]
fn a_check_needs_no_keys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gate.toml");
    std::fs::write(
        &file,
        "[upstreams.a]\npeers = ['https://bedrock-runtime.us-east-1.amazonaws.com']\naws = {}\n",
    )
    .unwrap();
    let config =
        portcullis::config::load_for(portcullis::config::Requirements::FILES, &file, &env(&[]), &rules())
            .unwrap();
    assert_eq!(config.missing.len(), 2);
}

#[test]
fn keys_and_headers_may_be_secrets_of_the_vault() {
    let item = "pvi_p6g5i3gtbvqvc3u6zugab6qs6r63tqf5";
    let text = format!(
        "[upstreams.a]\npeers = ['https://bedrock-runtime.us-east-1.amazonaws.com']\n\
         headers = {{ authorization = {{ vault = '{item}', prefix = 'Bearer ' }} }}\n\
         aws = {{ access_key = 'A', secret_key = {{ vault = '{item}' }} }}"
    );
    let config = parse(&text, "test.toml", &env(&[]), &rules()).unwrap();
    let upstream = &config.upstreams["a"];
    let named = |credential: &Credential| match credential {
        Credential::Vault { item, prefix } => (item.to_string(), prefix.clone()),
        Credential::Supplied(_) => panic!("not in the vault"),
    };
    assert_eq!(named(&upstream.headers["authorization"]), (item.to_owned(), "Bearer ".to_owned()));
    let aws = upstream.aws.as_deref().unwrap();
    assert_eq!(named(aws.secret_key.as_deref().unwrap()), (item.to_owned(), String::new()));
    assert_eq!(value(aws.access_key.as_deref().unwrap()), "A");

    // What it says, and why it is refused.
    let rows = [
        ("{ vault = 'x' }", "not the id of a secret in the vault"),
        ("{ vault = 'ITEM', env = 'A' }", "exactly one of `env`, `file` and `vault`"),
        ("{ env = 'A', prefix = 'Bearer ' }", "`prefix` goes with `vault` only"),
        ("{ vault = 'ITEM', prefix = \"a\\nb\" }", "not a field value"),
        ("{ prefix = 'a' }", "`prefix` goes with `vault` only"),
    ];
    for (said, why) in rows {
        let said = said.replace("ITEM", item);
        let text =
            format!("[upstreams.a]\npeers = ['https://x.example.com']\nheaders = {{ x-key = {said} }}");
        let problems = parse(&text, "test.toml", &env(&[]), &rules()).unwrap_err().to_string();
        assert!(problems.contains(why), "{said}: {problems}");
    }
    let prefixed = format!(
        "[upstreams.a]\npeers = ['https://bedrock-runtime.us-east-1.amazonaws.com']\n\
         aws = {{ access_key = 'A', secret_key = {{ vault = '{item}', prefix = 'x' }} }}"
    );
    let problems = parse(&prefixed, "test.toml", &env(&[]), &rules()).unwrap_err().to_string();
    assert!(problems.contains("nothing stands before a key of AWS"), "{problems}");
    // Elsewhere nothing comes from the vault, which is not open yet.
    let store = format!("[store]\nurl = {{ vault = '{item}' }}");
    assert!(parse(&store, "test.toml", &env(&[]), &rules()).is_err());
}
