"""What the sanitizer tells of a file: what was taken out and where, what was not read, why it is refused; never a value."""

import io
import json
import stat
import zipfile

import docx
import pikepdf
import pytest
from gateway import run
from test_sanitize_pictures import packed, png, saved

DONE, FAILED = 0, 1
VALUE = "jane.roe@corp-mail.com"
SCRIPT = "#!/bin/sh\nrm -rf ~\n"


def reported(tmp_path, name, data, *args, config=None):
    (tmp_path / name).write_bytes(data)
    done = run("sanitize", "--report", *args, *(["-c", config] if config else []), tmp_path / name, tmp_path / "out")
    report = json.loads(done.out)
    assert report["released"] == (done.returncode == DONE)
    return report


def short(report):
    """Each object in one line: what, action, where, how many."""
    lines = set()
    for it in report["objects"]:
        assert set(it) <= {"what", "where", "action", "reason", "count"} and it["count"] > 0
        place = [*it["where"].get("path", []), it["where"].get("part", ""), str(it["where"].get("page", ""))]
        lines.add(" ".join([it["what"], it["action"], "/".join(place).strip("/"), it.get("reason", ""), str(it["count"])]))
    return lines


def test_a_pdf_by_pages(tmp_path):
    with pikepdf.new() as pdf:
        for _ in range(3):
            pdf.add_blank_page()
        script = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=pikepdf.String("app.alert(1)"))
        rect = pikepdf.Array([0, 0, 9, 9])
        links = [pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=rect, A=script) for _ in range(2)]
        pdf.pages[1].Annots = pikepdf.Array([pdf.make_indirect(links[0]), links[1]])
        pdf.pages[2].AA = pikepdf.Dictionary(O=pikepdf.Dictionary(S=pikepdf.Name.SubmitForm, F=pikepdf.String("x")))
        pdf.Root.OpenAction = script
        pdf.attachments["a.txt"] = b"text"
        out = io.BytesIO()
        pdf.save(out)
    report = reported(tmp_path, "a.pdf", out.getvalue())
    assert short(report) == {"attachment removed   1", "script removed   1", "script removed 2  2", "action removed 3  1"}
    assert report["cdr"] == {"file_attachments_removed": 1, "interactive_contents_removed": 4}
    assert "objects_left_out" not in report and report["notes"] == {}


def test_a_document_by_parts_and_files_within_files_by_their_path(tmp_path):
    document = docx.Document()
    document.add_picture(io.BytesIO(png()))
    with zipfile.ZipFile(io.BytesIO(saved(document))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    types = parts["[Content_Types].xml"].decode()
    macro = '<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/></Types>'
    parts["[Content_Types].xml"] = types.replace("</Types>", macro).encode()
    parts["word/vbaProject.bin"] = b"macros"
    inner = packed({"deep/letter.docx": packed(parts), "run.sh": SCRIPT, "page.html": "<p onclick='x'>y<script>z</script>"})
    report = reported(tmp_path, "a.zip", packed({"inner.zip": inner, "table.csv": "=1+1,@SUM(A1)\n"}))
    lines = short(report)
    assert "macro removed inner.zip/deep/letter.docx/word/vbaproject.bin  1" in lines, lines
    assert "file left_out inner.zip/run.sh script 1" in lines and "formula disarmed table.csv  2" in lines
    assert any(line.startswith("markup removed inner.zip/page.html ") for line in lines)
    assert report["notes"]["dropped"] == 1
    # What is told of a clean file is nothing.
    clean = (tmp_path / "out").read_bytes()
    assert reported(tmp_path, "b.zip", clean)["objects"] == []
    read = reported(tmp_path, "c.zip", clean, "--redact")
    # A picture of how it looked goes with its text.
    assert read["notes"]["images"] >= 1 and {it["what"] for it in read["objects"]} <= {"preview"}


def test_a_list_is_as_long_as_a_person_reads(tmp_path):
    report = reported(tmp_path, "a.zip", packed({f"{number}.sh": SCRIPT for number in range(250)} | {"a.txt": "text"}))
    assert len(report["objects"]) == 200 and report["objects_left_out"] == 50


@pytest.mark.parametrize("args", [("--redact",), ("--redact", "--detect-only")], ids=["redact", "detect"])
def test_no_value_is_told(tmp_path, args):
    members = {"a.txt": "Dear Ms. Rosalyn Abernathy,\n", f"{VALUE}.sh": SCRIPT, "of Abernathy.sh": SCRIPT, "plain.sh": SCRIPT}
    report = reported(tmp_path, "a.zip", packed(members), *args)
    told = json.dumps(report["objects"])
    assert len(report["objects"]) == 3 and "plain.sh" in told and "jane" not in told
    # Who only wants to know what there is gets no values out of context either.
    assert "--detect-only" in args or "Abernathy" not in told
    inner = packed({"../x": "text"})
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        locked = io.BytesIO()
        pdf.save(locked, encryption=pikepdf.Encryption(user="secret", owner="secret"))
    refused = reported(tmp_path, "b.zip", packed({f"of {VALUE}.pdf": locked.getvalue(), "in.zip": inner}), *args)
    assert refused["reason"] == "encrypted" and "jane" not in json.dumps(refused)
    assert refused["where"] == {"path": ["of <EMAIL_ADDRESS>.pdf"]}


def linked():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    return out.getvalue()


def locked():
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        out = io.BytesIO()
        pdf.save(out, encryption=pikepdf.Encryption(user="secret", owner="secret"))
    return out.getvalue()


def declared():
    with zipfile.ZipFile(io.BytesIO(saved(docx.Document()))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/document.xml"] = b'<!DOCTYPE x [<!ENTITY a "b">]>' + parts["word/document.xml"].split(b"?>", 1)[1]
    return packed(parts)


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.zip", lambda: packed({"../x": "text"}), "traversal"),
        ("a.zip", linked, "symlink"),
        ("a.zip", lambda: packed({"a.txt": "x", "A.TXT": "y"}), "duplicate_name"),
        ("a.docx", declared, "doctype"),
        ("a.pdf", lambda: b"%PDF-1.7\nnothing", "broken"),
        ("a.pdf", locked, "encrypted"),
        ("a.dat", lambda: b"\x00\xff\xfe nothing that anybody knows \x01" * 9, "unsupported"),
        ("a.sh", lambda: SCRIPT.encode(), "script"),
        ("a.txt", lambda: b"x" * (2 << 20), "too_large"),
    ],
)
def test_a_refusal_has_its_reason(tmp_path, name, make, reason):
    config = tmp_path / "c.toml"
    config.write_text('[sanitize.limits]\nfile = "1MiB"\n')
    report = reported(tmp_path, name, make(), config=config)
    assert not report["released"] and report["reason"] == reason and report["why"]
    assert not (tmp_path / "out").exists() and "where" not in report
