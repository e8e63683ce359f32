use proptest::prelude::*;

use super::*;

proptest! {
    /// Whatever stands beside it on its line.
    #[test]
    fn no_line_of_a_key_stays(
        lines in prop::collection::vec(("[ >#0-9:|+-]{0,6}", "[A-Za-z0-9/]{16,64}", "( [0-9]{1,4}| [A-Za-z]{1,3}|)"), 1..9),
        ended in any::<bool>(),
    ) {
        let text: String = lines.iter().map(|(before, line, behind)| format!("{before}{line}{behind}\n")).collect();
        let block = format!("-----BEGIN PRIVATE KEY-----\n{text}{}", if ended { "-----END PRIVATE KEY-----" } else { "" });
        let own = own(&block);
        let mut at = "-----BEGIN PRIVATE KEY-----\n".len();
        for (before, line, behind) in &lines {
            at += before.len();
            prop_assert!((at..at + line.len()).all(|place| own.contains(&place)), "{} in {}", line, block);
            at += line.len() + behind.len() + 1;
        }
    }
}

const BODY: [&str; 4] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "+MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3fxVT+p7vhmgHHwBqnyYUIPEzkcXoYdiz",
    "a9kN1uJz0L2vQWcDZq8fYH5pT3xRsKbE7mGo6iVnUjB4hCwXtAyFgOlIrPqMeSdN",
    "QIDAQAB=",
];

fn block(first: &str, each: impl Fn(usize, &str) -> String, last: &str) -> String {
    let lines = BODY.iter().zip(2..).map(|(line, n)| each(n, line)).collect::<String>();
    format!("-----BEGIN PRIVATE KEY-----{first}{lines}{last}-----END PRIVATE KEY-----")
}

fn layouts() -> Vec<String> {
    vec![
        block("\n", |_, line| format!("{line}\n"), ""),
        block("\r\n", |_, line| format!("    {line}\r\n"), "    "),
        block("\\n", |_, line| format!("{line}\\n"), ""),
        block(" ", |_, line| format!("{line} "), ""),
        block("\n", |n, line| format!("{n:6}\t{line}\n"), "     6\t"),
        block("\n", |n, line| format!("{n:6}→{line}\n"), "     6→"),
        block("\n", |n, line| format!("{n:05}| {line}\n"), "00006| "),
        block("\n", |n, line| format!("{n}: {line}\n"), "6: "),
        block("\n", |n, line| format!("keys/id_rsa.pem:{n}:{line}\n"), "keys/id_rsa.pem:6:"),
        block("\n", |n, line| format!("id.pem-{n}-{line}\n"), "id.pem-6-"),
        block("\n", |_, line| format!("+{line}\n"), "+"),
        block("\n", |_, line| format!("-{line}\n"), "-"),
        block("\n", |_, line| format!("> +{line}\n"), "> +"),
        block("\n", |_, line| format!("> {line}\n"), "> "),
        block("\n", |_, line| format!("# {line}\n"), "# "),
        block("\n", |_, line| format!("// {line}\n"), "// "),
        block("\n", |_, line| format!(" * {line}\n"), " * "),
        block("\\n\"\n", |_, line| format!("    + \"{line}\\n\"\n"), "    + \""),
        block("\\n\" +\n", |_, line| format!("    \"{line}\\n\" +\n"), "    \""),
        block("\\n' .\n", |_, line| format!("    '{line}\\n' .\n"), "    '"),
        block("\\n\", \n", |_, line| format!("    \"{line}\\n\",\n"), "    \""),
    ]
}

#[test]
fn a_key_is_the_same_however_it_is_laid_out() {
    let key = BODY.concat();
    for layout in layouts() {
        let own: String = own(&layout).into_iter().map(|at| char::from(layout.as_bytes()[at])).collect();
        assert_eq!(own, key, "{layout}");
        let plain = format!("-----BEGINPRIVATEKEY-----{key}-----ENDPRIVATEKEY-----");
        assert_eq!(without_layout(&layout), plain, "{layout}");
    }
}

#[test]
fn headers_are_no_part_of_a_key() {
    let headers = "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n";
    let layout = block(headers, |_, line| format!("{line}\n"), "");
    assert_eq!(own(&layout).len(), BODY.concat().len());
}

#[test]
fn a_key_that_is_cut_off_has_what_is_there() {
    for layout in layouts() {
        let key = BODY.concat();
        for (cut, _) in layout.char_indices().skip(40) {
            let (layout, _) = layout.split_at(cut);
            let own = own(layout).len();
            let whole = layout.bytes().filter(|&byte| is_base64(byte)).count();
            assert!(own <= whole && own <= key.len() + LINE, "{layout}");
        }
    }
}

#[test]
fn a_line_begins_behind_what_is_not_of_the_key() {
    let key = BODY[0].as_bytes();
    let goes_on = |run: &[u8]| key.starts_with(run) || b"-----END PRIVATE KEY-----".starts_with(run);
    for (text, behind) in [
        (format!("{}\n", BODY[0]), 0),
        (format!("  12\t{}\n", BODY[0]), 5),
        (format!("+{}\n", BODY[0]), 1),
        (format!("id.pem:8:{}\n", BODY[0]), 9),
        (format!("    + \"{}\\n\"\n", BODY[0]), 7),
        ("Proc-Type: 4,ENCRYPTED\n".into(), 22),
        ("8\t-----END PRIVATE KEY-----\n".into(), 2),
        ("------END PRIVATE KEY-----\n".into(), 1),
        ("\n".into(), 0),
    ] {
        assert_eq!(line_start(text.as_bytes(), true, &goes_on), LineStart::Behind(behind), "{text}");
        let cut = text.trim_end_matches(['\n', '\\', 'n', '"']);
        assert_eq!(line_start(cut.as_bytes(), false, &goes_on), LineStart::Wait, "{cut}");
    }
}
