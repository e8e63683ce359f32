use std::fs;
use std::time::Duration;

use super::{Rules, RulesError};
use crate::sanitize::scan::{ScanFailure, Verdict};

const TIME: Duration = Duration::from_secs(10);

/// Not in one piece, so that this file is not one.
fn eicar() -> Vec<u8> {
    ["X5O!P%@AP[4\\PZX54(P^)7CC)7}$", "EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].concat().into_bytes()
}

fn rule(rules: &Rules, bytes: &[u8]) -> String {
    match rules.look(bytes, TIME) {
        Verdict::Malicious { rule } => rule,
        Verdict::Clean => String::new(),
        other => format!("{other:?}"),
    }
}

#[test]
fn the_builtin_rules_find_what_they_say() {
    let rules = Rules::builtin().unwrap();
    let ole = |rest: &[u8]| [&[0xd0, 0xcf, 0x11, 0xe0][..], rest].concat();
    let package: Vec<u8> = "\u{1}Ole10Native".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let spray = "unescape('%u9090%u9090%u9090%u9090')";
    let pdf = |rest: &str| format!("%PDF-1.7\n{rest}").into_bytes();
    let cases: [(Vec<u8>, &str); 14] = [
        (eicar(), "EICAR_Test_File"),
        ([eicar(), b"\r\n".to_vec()].concat(), "EICAR_Test_File"),
        ([b"It begins: ".to_vec(), eicar()].concat(), ""),
        (pdf("/OpenAction << /S /Launch /Win << /F (cmd.exe) >> >>"), "PDF_Launches_Command"),
        (pdf("/S /#4caun#63h /F (powershell.exe)"), "PDF_Launches_Command"),
        (pdf("/OpenAction << /S /JavaScript /JS (app.alert(1)) >>"), ""),
        (pdf("/Launch /F (report.pdf)"), ""),
        (pdf(&format!("/JS (Collab.getIcon({spray}))")), "PDF_Script_Exploits_Reader"),
        (ole(b"AutoOpen WScript.Shell powershell"), "VBA_Runs_Command_By_Itself"),
        (ole(b"Workbook_Open URLDownloadToFileA ShellExecuteA"), "VBA_Runs_Command_By_Itself"),
        (ole(b"AutoOpen MsgBox"), ""),
        (
            ole(&[&package[..], b"This program cannot be run in DOS mode"].concat()),
            "OLE_Package_Holds_Program",
        ),
        (ole(&package), ""),
        (b"{\\rtf1 \\objupdate 4571756174696f6e2e33}".to_vec(), "RTF_Equation_Runs_By_Itself"),
    ];
    for (n, (bytes, want)) in cases.iter().enumerate() {
        assert_eq!(rule(&rules, bytes), *want, "case {n}");
    }
}

#[test]
fn rules_come_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let shown = |error: &RulesError| error.to_string().replace(&folder.path().display().to_string(), "F");
    let load = || Rules::folder(folder.path()).map_err(|error| shown(&error));
    assert_eq!(load().unwrap_err(), "F: there are no rules (*.yar, *.sha256) in this folder");
    // Digest of "abc", FIPS 180-2 appendix B.
    write(
        "bad.sha256",
        "# known\n\nba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc.bin\n",
    );
    write("a.yar", "rule One { condition: false }\nrule Two { strings: $a = \"needle\" condition: $a }");
    write("b.yara", "rule Two { condition: filesize == 3 }");
    write("notes.txt", "not a rule");
    let rules = load().unwrap();
    assert_eq!((rules.len(), rules.is_empty()), ((3, 1), false));
    assert_eq!(format!("{rules:?}"), "Rules(3 rules, 1 digests)");
    let found: Vec<_> = ["abc", "xyz", "a needle", "none"].map(|text| rule(&rules, text.as_bytes())).into();
    assert_eq!(found, ["sha256", "Two", "Two", ""]);
    write("c.sha256", "abc");
    assert_eq!(load().unwrap_err(), "F/c.sha256:1: not a SHA-256 digest in hexadecimal");
    write("a.yar", "rule One {\n  condition: nothing\n}");
    let error = load().unwrap_err();
    assert!(error.starts_with("F/a.yar:2:14: error: "), "{error}");
    write("a.yar", "include \"/etc/passwd\"");
    assert!(load().unwrap_err().starts_with("F/a.yar:1:"));
    let gone = Rules::folder(&folder.path().join("gone")).unwrap_err();
    assert_eq!(shown(&gone), "F/gone: entity not found");
}

#[test]
fn a_scan_ends_when_its_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let slow = "rule Slow { condition: for all i in (0 .. 1000000000) : (uint8(i % 7) < 256) }";
    fs::write(folder.path().join("slow.yar"), slow).unwrap();
    let rules = Rules::folder(folder.path()).unwrap();
    assert_eq!(rules.look(b"12345678", Duration::from_millis(50)), Verdict::Unable(ScanFailure::TooLong));
}

#[test]
fn files_of_the_corpus_are_judged_as_expected() {
    let Ok(corpus) = std::env::var("PORTCULLIS_SANITIZE") else {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped: PORTCULLIS_SANITIZE is not set");
        }
        return;
    };
    let rules = Rules::builtin().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && name != "manifest.jsonl" {
            found.push((name, rule(&rules, &fs::read(path).unwrap())));
        }
    }
    // Everything in it is inert but for the test file; and what only acts is not malicious.
    found.retain(|(_, rule)| !rule.is_empty());
    let known = ["EICAR_Test_File", "PDF_Launches_Command"];
    assert!(found.iter().any(|(name, _)| name.contains("eicar.txt")), "{found:?}");
    assert!(found.iter().all(|(_, rule)| known.contains(&rule.as_str())), "{found:?}");
}
