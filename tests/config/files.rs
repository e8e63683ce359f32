//! Files beside the configuration: rules, and which of them are looked at.

use super::*;

#[test]
fn rules_and_what_is_allowed_come_from_the_file_and_from_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("rules.d")).unwrap();
    std::fs::write(at("rules.d/b.toml"), "[[rule]]\nname = 'ACME_B'\nliterals = ['Heron 9']\n").unwrap();
    std::fs::write(
        at("rules.d/a.toml"),
        "[[rule]]\nname = 'ACME_A'\npatterns = [{ regex = 'A-[0-9]{4}' }]\n",
    )
    .unwrap();
    std::fs::write(at("rules.d/read.me"), "not a rule file").unwrap();
    let text = r#"
[detect]
rule_files = ["rules.d"]
[[detect.rule]]
name = "ACME_C"
literals = ["Projekt Möwe", "(c)"]
any_case = true
matches = ["the «projekt Möwe»", "«(C)»"]
[[detect.allow]]
values = ["A-0000"]
reason = "printed on every box"
[[detect.allow]]
pattern = '.*@example\.com'
rules = ["EMAIL_ADDRESS"]
[detect.thresholds]
ACME_A = 0.9
"#;
    std::fs::write(at("gate.toml"), text).unwrap();
    let config = load(&at("gate.toml"), &env(&[]), &rules()).unwrap();
    let names: Vec<&str> = config.catalogue.names().skip(rules().names().count()).collect();
    assert_eq!(names, ["ACME_A", "ACME_B", "ACME_C"]);
    let found = |text: &str, threshold: Option<f32>| {
        let mut catalogue = config.catalogue.clone();
        if let Some(threshold) = threshold {
            catalogue.set_threshold(catalogue.find("ACME_A").unwrap(), threshold);
        }
        let selection =
            RuleSelection::only(&catalogue, ["ACME_A", "ACME_B", "ACME_C", "EMAIL_ADDRESS"]).unwrap();
        let detector = Detector::new(&catalogue, &selection).unwrap().allowing(config.allow.clone());
        detector.find(text).len()
    };
    assert_eq!(found("Heron 9, PROJEKT Möwe, ann@example.org", None), 3);
    assert_eq!(found("Heron 91, ann@example.com", None), 0);
    assert_eq!(found("A-1234 and A-0000", None), 0, "its score is below the threshold");
    assert_eq!(found("A-1234 and A-0000", Some(0.5)), 1);

    std::fs::write(at("rules.d/c.toml"), "[[rule]]\nname = 'ACME_A'\nliterals = ['x y']\n").unwrap();
    std::fs::write(at("rules.d/d.toml"), "[[rule]]\nname = 3\n").unwrap();
    let problems = lines(load(&at("gate.toml"), &env(&[]), &rules()));
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("c.toml:1: another rule has the same name"), "{problems:?}");
    assert!(problems[1].contains("d.toml:2:8: "), "{problems:?}");
}

#[test]
fn it_is_known_which_files_to_look_at() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = "[detect]\nrule_files = ['rules.d']\n[sanitize.intel]\nfeeds = ['feed.txt']\n[upstreams.a]\n\
        peers = ['https://a.example']\nheaders = { key = { file = 'secret' } }\n";
    for (name, text) in [("gate.toml", text), ("feed.txt", ""), ("secret", "s")] {
        std::fs::write(at(name), text).unwrap();
    }
    std::fs::create_dir(at("rules.d")).unwrap();
    let mut files = load(&at("gate.toml"), &env(&[]), &rules()).unwrap().files;
    files.sort();
    let all: Vec<_> = ["feed.txt", "gate.toml", "rules.d", "secret"].map(at).into();
    assert_eq!(files, all);
    // What is missing may come.
    std::fs::remove_file(at("secret")).unwrap();
    let known = load(&at("feed.txt"), &env(&[]), &rules()).unwrap().known;
    let reading = reload(&at("gate.toml"), &env(&[]), &rules(), &known);
    assert!(reading.outcome.is_err() && reading.files.contains(&at("secret")));
    std::fs::remove_file(at("gate.toml")).unwrap();
    assert_eq!(reload(&at("gate.toml"), &env(&[]), &rules(), &known).files, [at("gate.toml")]);
}

#[test]
fn rules_that_did_not_change_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let own = "[[rule]]\nname = 'ACME_A'\npatterns = [{ regex = 'A-[0-9]{4}' }]\nmatches = ['A-1234']\n";
    let gate = |more: &str| format!("[detect]\nrule_files = ['own.toml']\n{more}");
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    write("own.toml", own);
    write("gate.toml", &gate(""));
    let first = load(&at("gate.toml"), &env(&[]), &rules()).unwrap();
    let again = |known: &CompiledRules| reload(&at("gate.toml"), &env(&[]), &rules(), known).outcome.unwrap();
    let second = again(&first.known);
    assert!(second.catalogue.is(&first.catalogue) && second.known.is_same(&first.known));

    // What does not touch rules, and a rule in another spelling.
    write("own.toml", &own.replace("[[rule]]", "# ours\n[[rule]]"));
    write("gate.toml", &gate("[[detect.allow]]\nvalues = ['A-0000']\n[limits]\nbody = '1MiB'\n"));
    let third = again(&second.known);
    assert!(third.catalogue.is(&first.catalogue) && !third.allow.is_empty());

    write("gate.toml", &gate("[detect.thresholds]\nACME_A = 0.9\n"));
    let stricter = again(&third.known);
    assert!(!stricter.catalogue.is(&first.catalogue));
    assert!(again(&stricter.known).catalogue.is(&stricter.catalogue));

    write("own.toml", &own.replace("{4}", "{3,4}"));
    let changed = again(&stricter.known);
    assert!(!changed.catalogue.is(&stricter.catalogue));
    // What was kept is no way past a rule's own examples.
    write("own.toml", &own.replace("{4}", "{9}"));
    let problems = lines(reload(&at("gate.toml"), &env(&[]), &rules(), &changed.known).outcome);
    assert!(problems[0].contains("example 1 of `matches` is not found"), "{problems:?}");

    std::fs::write(at("gate.toml"), "").unwrap();
    let bare = again(&changed.known);
    assert!(!bare.catalogue.is(&changed.catalogue) && again(&bare.known).catalogue.is(&bare.catalogue));
}

/// Whatever folder the program is started in.
#[test]
fn files_that_are_written_lie_where_the_configuration_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = "data = 'd'\n[log]\naccess_file = 'access.jsonl'\n[audit]\nfile = 'audit.jsonl'\n";
    std::fs::write(at("gate.toml"), text).unwrap();
    let config = load(&at("gate.toml"), &env(&[]), &rules()).unwrap();
    assert_eq!(config.log.access_file.as_deref(), Some(&at("access.jsonl")));
    assert_eq!(config.audit.as_ref().map(|audit| audit.file.clone().into_inner()), Some(at("audit.jsonl")));
    assert_eq!(*config.data, at("d"));
}

#[test]
fn files_and_folders_that_held_rules_are_not_taken_for_empty() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
    std::fs::create_dir(at("rules.d")).unwrap();
    std::fs::create_dir(at("empty.d")).unwrap();
    let rule = |name: &str| format!("# ours\n[[rule]]\nname = '{name}'\nliterals = ['Heron {name}']\n");
    write("rules.d/a.toml", &rule("ACME_A"));
    write("rules.d/none.toml", "# none yet\n");
    write("own.toml", &rule("ACME_B"));
    write("gate.toml", "[detect]\nrule_files = ['rules.d', 'own.toml', 'empty.d']\n");
    let first = load(&at("gate.toml"), &env(&[]), &rules()).unwrap();
    let again = |known: &CompiledRules| reload(&at("gate.toml"), &env(&[]), &rules(), known).outcome;
    let refused = |what: &str| {
        let problems = lines(again(&first.known));
        let said = format!("{what}: it holds no rules, and the running configuration has some of it");
        assert!(problems.len() == 1 && problems[0].contains(&said), "{what}: {problems:?}");
    };
    let second = again(&first.known).unwrap();
    write("own.toml", "");
    refused("own.toml");
    // A start takes it as it is, and so does a reload after it.
    let bare = load(&at("gate.toml"), &env(&[]), &rules()).unwrap();
    assert!(again(&bare.known).is_ok());
    write("own.toml", &rule("ACME_B"));
    write("rules.d/a.toml", "\u{feff}# nothing\n\n");
    refused("rules.d");
    write("rules.d/b.toml", &rule("ACME_C"));
    refused("a.toml");
    std::fs::remove_file(at("rules.d/a.toml")).unwrap();
    let third = again(&second.known).unwrap();
    assert!(third.catalogue.find("ACME_A").is_none() && third.catalogue.find("ACME_C").is_some());
    // What is not named any more is meant to be gone.
    write("gate.toml", "[detect]\nrule_files = ['own.toml']\n");
    assert!(again(&third.known).is_ok());
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::fs::create_dir(at("rules.d")).unwrap();
    std::os::unix::fs::symlink(at("pipe"), at("rules.d/pipe.toml")).unwrap();
    let upstream = "[upstreams.a]\npeers = ['https://a.example']\n";
    for text in [
        "[detect]\nrule_files = ['pipe']\n".to_owned(),
        "[detect]\nrule_files = ['rules.d']\n".to_owned(),
        format!("{upstream}headers = {{ key = {{ file = 'pipe' }} }}\n"),
        format!("{upstream}headers = {{ key = {{ file = '/dev/zero' }} }}\n"),
        format!("{upstream}tls = {{ ca = 'pipe' }}\n"),
    ] {
        std::fs::write(at("gate.toml"), &text).unwrap();
        let problems = lines(load(&at("gate.toml"), &env(&[]), &rules()));
        assert!(problems.len() == 1 && problems[0].ends_with("this is not a file"), "{text}: {problems:?}");
    }
    let problems = lines(load(&at("pipe"), &env(&[]), &rules()));
    assert!(problems[0].ends_with("pipe: this is not a file"), "{problems:?}");
}
