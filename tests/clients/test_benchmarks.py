"""What the page of benchmarks is made from: files with values planted in them, and the page's own places for figures."""

import sys

from gateway import ROOT

sys.path.append(str(ROOT / "tests/bench"))

import corpus  # noqa: E402


def test_planted_values_stand_where_they_are_said_to_be(tmp_path):
    planted = corpus.write(tmp_path / "a", 200_000, 1)
    assert {one.kind for one in planted} == set(corpus.FORMS)
    for one in planted:
        lines = (tmp_path / "a" / one.file).read_text().split("\n")
        assert "\n".join(lines[one.line - 1 :]).find(one.value) in range(len(lines[one.line - 1])), one


def test_the_same_seed_makes_the_same_files(tmp_path):
    for folder, seed in [("a", 1), ("b", 1), ("c", 2)]:
        corpus.write(tmp_path / folder, 100_000, seed)
    a, b, c = ([file.read_text() for file in sorted((tmp_path / folder).iterdir())] for folder in "abc")
    assert a == b
    assert a != c


def test_clean_files_have_nothing_planted(tmp_path):
    assert corpus.write(tmp_path / "a", 100_000, 1, clean=True) == []


def test_the_page_has_a_place_for_each_table():
    page = (ROOT / "docs/benchmarks.md").read_text()
    for name in ("machine", "roads", "files", "kinds"):
        begin = "<!-- made by tests/bench/compare.py: %s -->\n" % name
        assert page.count(begin) == 1, name
        assert page.split(begin)[1].split("<!-- end -->")[0].strip(), "%s: no figures" % name
