"""Documents made by libraries of others, each with values that are to go and words that are to stay."""

from dataclasses import dataclass
from typing import Callable

EMAIL = "marlowe.finch@harbour-post.com"
SSN = "536-22-8726"
CARD = "4111 1111 1111 1111"
PHONE = "(212) 664-7665"
VALUES = (EMAIL, SSN, CARD, PHONE)

# What surrounds the values; every document keeps it.
KEPT = "The harbour office keeps this sentence about lanterns and ropes."


@dataclass
class Document:
    """A file, how it is made, and how the values are written in it where no parser shows them."""

    name: str
    make: Callable[[], bytes]
    values: tuple
    spelled: tuple
    # Whether attachments stay, each cleaned like a file of its own.
    attachments: bool
    # Whether the values go with something that is dropped, and so are not counted.
    dropped: bool

    def __str__(self):
        return self.name


ALL: list = []


def document(name, values=VALUES, spelled=(), attachments=False, dropped=False):
    """Adds a document that the function makes. `spelled` are its values' codes, in hexadecimal, in fonts where they
    are no letters."""

    def added(make):
        ALL.append(Document(name, make, tuple(values), tuple(spelled), attachments, dropped))
        return make

    return added


def sentences():
    """Each value in a sentence of its own, and one without."""
    return [
        "Write to %s about the keys." % EMAIL,
        "Her SSN is %s since long." % SSN,
        "The card %s was used twice." % CARD,
        "Please call %s at noon." % PHONE,
        KEPT,
    ]
