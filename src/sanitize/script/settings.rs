//! Settings in sections (`[name]`, `key=value`), and lists of players.

/// Sections of which settings start a program or fetch something when somebody opens them, in lower case.
const SECTIONS: &[&str] = &[
    "[internetshortcut",
    "[desktop entry]",
    "[autorun",
    "[.shellclassinfo]",
    "[{000214a0-0000-0000-c000-000000000046}]",
    "[oledb]",
    "[applicationservers]",
    "[scriptfile]",
    "[defaultinstall",
];

/// Settings that act only by what is in them, and lists of players, in lower case.
const LEADING: &[&str] = &["[theme]", "[playlist]", "#extm3u"];

/// What an address begins with for which programs log in somewhere, or read this machine's files.
const SCHEMES: &[&str] = &["file:", "smb:", "cifs:", "nfs:"];

/// Whether a text consists of settings that act, from its beginning on.
pub(super) fn acts(text: &str) -> bool {
    let mut leads = false;
    for line in text.lines().map(str::trim) {
        if !is_setting(line, leads) {
            break;
        }
        let begins = |name: &&str| line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        if SECTIONS.iter().any(begins) && !is_link(line) {
            return true;
        }
        leads |= LEADING.iter().any(begins) || is_signature(line);
        let mut values = line.split('=');
        let name = values.next().unwrap_or_default();
        if leads && (leads_to_share(name) || values.any(leads_to_share)) {
            return true;
        }
    }
    is_shell_command(text)
}

/// Whether settings may have such a line. `listed`: within what may be a list, anything may stand in a line of its own.
fn is_setting(line: &str, listed: bool) -> bool {
    listed || line.is_empty() || line.starts_with([';', '#', '[']) || line.contains('=')
}

/// Whether a line begins with a link of Markdown, which looks like a section.
fn is_link(line: &str) -> bool {
    line.split_once(']').is_some_and(|(_, rest)| rest.starts_with(['(', '[', ':']))
}

/// What the settings of an installation (`.inf`) say of themselves.
fn is_signature(line: &str) -> bool {
    let name = line.get(..9).is_some_and(|name| name.eq_ignore_ascii_case("signature"));
    let value = line.split_once('=').map(|(_, value)| value.trim().trim_start_matches(['"', '\'']));
    name && value.is_some_and(|value| value.starts_with('$'))
}

/// Whether an address leads to a share or is of this machine.
pub(super) fn leads_to_share(value: &str) -> bool {
    let value = value.trim().trim_start_matches(['"', '\'']).trim_start();
    let slashes = value.bytes().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
    let scheme =
        |scheme: &&str| value.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    slashes >= 2 || SCHEMES.iter().any(scheme)
}

/// A command of Windows' shell (`.scf`).
fn is_shell_command(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.trim().to_ascii_lowercase()).filter(|line| !line.is_empty());
    lines.by_ref().find(|line| !line.starts_with([';', '#'])).is_some_and(|line| line == "[shell]")
        && lines.next().is_some_and(|line| line.starts_with("command=") || line.starts_with("iconfile="))
}
