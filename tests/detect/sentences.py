"""Sentences in eight languages with their persons and places, as they stand in sentences.txt and in lower case."""

import re
from pathlib import Path

FILE = Path(__file__).resolve().with_suffix(".txt")
ENTITIES = {"P": "PERSON", "L": "LOCATION"}


def rows(language, lower):
    """Those of a language, in the form of the corpora's rows."""
    _, _, rest = FILE.read_text().partition("[%s]\n" % language)
    lines = rest.partition("\n[")[0].splitlines()
    return [row(f"{language}-{number}", line, lower) for number, line in enumerate(lines) if line]


def row(name, line, lower):
    text, spans, at = "", [], 0
    for mark in re.finditer(r"\{([PL]) ([^}]*)\}", line):
        text += line[at : mark.start()]
        spans.append({"start": len(text), "end": len(text) + len(mark[2]), "entity": ENTITIES[mark[1]]})
        text += mark[2]
        at = mark.end()
    text += line[at:]
    return {"id": name, "text": text.lower() if lower else text, "spans": spans, "kind": "full"}
