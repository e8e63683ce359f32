//! Which texts consist of a script's lines, whatever they are called and however they begin.

/// How much of a text is looked at, in bytes.
const HEAD: usize = 64 << 10;

/// What scripts call to act on the machine, in lower case.
const ACTS: &[&str] = &[
    "activexobject",
    "createobject",
    "getobject(",
    "wscript.",
    "shellexecute",
    "shell.application",
    "new-object",
    "invoke-expression",
    "invoke-webrequest",
    "invoke-restmethod",
    "invoke-command",
    "start-process",
    "downloadstring",
    "downloadfile",
    "iex ",
    "iex(",
    "powershell",
    "cmd /c",
    "cmd.exe",
    "mshta",
    "rundll32",
    "regsvr32",
    "certutil",
    "bitsadmin",
    "os.system",
    "subprocess.",
    "import os",
    "import subprocess",
    "import socket",
    "exec(",
    "eval(",
    "system(",
    "require(",
    "msgbox",
    "wget ",
    "curl ",
    "chmod ",
    "rm -",
    "schtasks",
    "reg add",
    "del /",
    "taskkill",
];

/// Words that lines of scripts begin with, in lower case, with what must follow.
const LINES: &[&str] = &[
    "dim ",
    "set ",
    "sub ",
    "end sub",
    "function ",
    "end function",
    "end if",
    "if ",
    "else",
    "elseif ",
    "for ",
    "next",
    "while ",
    "wend",
    "loop",
    "do ",
    "var ",
    "let ",
    "const ",
    "return",
    "new ",
    "try",
    "catch",
    "throw",
    "import ",
    "from ",
    "def ",
    "class ",
    "print",
    "echo ",
    "@echo",
    "rem ",
    "call ",
    "start ",
    "goto ",
    "exit",
    "param(",
    "param (",
    "$",
    "function(",
    "export ",
    "case ",
    "msgbox",
    "wscript.",
    "createobject",
    "eval(",
    "exec",
    "iex",
    "invoke-",
    "start-",
    "set-",
    "get-",
    "new-",
    "add-",
    "write-",
    "remove-",
    "cd ",
    "sudo ",
    "curl ",
    "wget ",
    "chmod ",
    "rm ",
    "mkdir ",
    "cp ",
    "mv ",
    "copy ",
    "del ",
    "powershell",
    "cmd",
    "reg ",
    "schtasks",
    "with ",
    "raise ",
    "except",
    "finally",
    "elif ",
    "self.",
    "os.",
    "subprocess.",
    "sys.",
    "require(",
    "public ",
    "private ",
];

/// Lines that end what others begin.
const CLOSINGS: &[&str] = &["fi", "done", "then", "end", "esac", "else", "do", "loop", "wend"];

/// What many lines of scripts consist of, though no sentence does.
fn is_code(line: &str) -> bool {
    let assigned = line.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches(['+', '-', ':', ' ', '.']);
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$.[]()\"'%".contains(&byte))
    });
    let called =
        line.ends_with([';', '{', '}', ')']) && line.contains(['(', '{', '}', ';']) || line.ends_with("){");
    // `sh.Run "calc"`.
    let told = line.split_once(' ').is_some_and(|(name, rest)| {
        name.contains('.') && !name.ends_with('.') && rest.starts_with(['"', '\'', '('])
    });
    // Sentences begin with such words, too.
    let worded = !line.ends_with(['.', '?', '!']) && LINES.iter().any(|word| line.starts_with(word));
    assigned || called || told || worded || CLOSINGS.contains(&line) || line.starts_with(['\'', '#'])
}

/// Whether a text consists of a script's lines, at least one of which acts on the machine: whatever it is called.
pub(in crate::sanitize) fn consists(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or(text).to_ascii_lowercase();
    if !ACTS.iter().any(|act| head.contains(act)) {
        return false;
    }
    let mut fenced = false;
    let (mut code, mut all) = (0_usize, 0_usize);
    for line in head.lines().map(str::trim).filter(|line| !line.is_empty()) {
        // Code within Markdown is shown, as a sentence is.
        let fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= fence;
        code = code.saturating_add(usize::from(!fence && !fenced && is_code(line)));
        all = all.saturating_add(1);
    }
    // Prose about scripts has sentences.
    code.saturating_mul(10) >= all.saturating_mul(6)
}
