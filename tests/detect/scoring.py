"""Compares marked spans with found ones.

A row is `{id, text, spans: [{start, end, entity}], scope?}`, offsets in code points. What is judged: with a `scope`
only its entities; with a list of types only those. A span marked `dont_care` is neither wanted nor wrong to find; a
row marked `ambiguous` is left out; a span marked `whole_line` wants no more than something found on the line.
"""

from collections import defaultdict

FAMILIES = {
    "SECRET": "API_KEY JWT PRIVATE_KEY PASSWORD AUTH_TOKEN CREDENTIAL ACCESS_TOKEN SECRET_KEY OAUTH_TOKEN "
    "ENCRYPTION_KEY CRYPTOGRAPHIC_KEY PIN CONNECTION_STRING AUTHENTICATION_TOKEN SESSION_ID API_SECRET SSH_KEY",
    "PERSON": "PERSON_NAME NAME GIVEN_NAME SURNAME FIRST_NAME LAST_NAME PER",
    "LOCATION": "GPE LOC ADDRESS STREET_ADDRESS LOCATION_NAME CITY STATE COUNTRY ZIP_CODE POSTAL_CODE STREET_NAME "
    "BUILDING_NUMBER SECONDARY_ADDRESS UK_POSTCODE DE_PLZ FAC",
    "ORGANIZATION": "ORG COMPANY ORGANIZATION_NAME",
    "DATE_TIME": "DATE TIME DATE_OF_BIRTH TIMESTAMP DOB",
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE PH_MOBILE_NUMBER TR_PHONE_NUMBER FAX_NUMBER",
    "URL": "DOMAIN_NAME DOMAIN",
    "IP_ADDRESS": "IP IPV4 IPV6",
    "US_SSN": "SSN SOCIAL_SECURITY_NUMBER",
    "IBAN_CODE": "IBAN",
    "CREDIT_CARD": "CREDIT_CARD_NUMBER",
    "CRYPTO": "CRYPTO_WALLET CRYPTOCURRENCY_WALLET CRYPTO_ADDRESS BITCOIN_ADDRESS ETHEREUM_ADDRESS",
}
OF = {name: whole for whole, names in FAMILIES.items() for name in names.split()}


def family(entity):
    """The kind of thing that an entity is, where corpora name it differently."""
    return OF.get(entity, entity)


def ratio(part, whole):
    return part / whole if whole else float("nan")


def measures(hits, wrong, missed):
    """Precision, recall, F1."""
    precision, recall = ratio(hits, hits + wrong), ratio(hits, hits + missed)
    f1 = ratio(2 * hits, 2 * hits + wrong + missed)
    return precision, recall, f1


class Tally:
    """Hits, wrong findings and misses of each type, exact and by overlap; rows without spans, and those flagged."""

    def __init__(self):
        self.exact = defaultdict(lambda: [0, 0, 0])
        self.overlap = defaultdict(lambda: [0, 0, 0])
        self.clean = self.flagged = 0

    def of(self, kind, entity):
        return measures(*getattr(self, kind)[entity])

    def micro(self, kind):
        return measures(*(sum(counts) for counts in zip(*getattr(self, kind).values(), strict=True)))


def touched(wanted, found):
    """Which of both overlap one of the other side and of the same type: a fragment of a found span is not wrong, and
    one finding may cover several spans."""
    pairs = [
        (n, m)
        for n, one in enumerate(wanted)
        for m, other in enumerate(found)
        if one[2] == other[2] and one[0] < other[1] and other[0] < one[1]
    ]
    return {n for n, _ in pairs}, {m for _, m in pairs}


def judge(row, findings, tally, types, coarse):
    """Counts one row."""
    if row.get("ambiguous"):
        return
    name = family if coarse else str
    scope = {name(entity) for entity in row.get("scope") or []}
    spans = [(span["start"], span["end"], name(span["entity"]), span) for span in row["spans"]]
    ignored = [(start, end) for start, end, _, span in spans if span.get("dont_care")]
    wanted = [one for one in spans if not one[3].get("dont_care") and (not types or one[2] in types)]
    line = any(span.get("whole_line") for *_, span in wanted)
    found = sorted({(one["start"], one["end"], name(one["entity"])) for one in findings})
    found = [
        one
        for one in found
        if not any(start < one[1] and one[0] < end for start, end in ignored)
        and (not types or one[2] in types)
        and (not scope or one[2] in scope)
    ]
    exact = {(start, end, entity) for start, end, entity, span in wanted if not span.get("whole_line")}
    for one in exact:
        tally.exact[one[2]][0 if one in found else 2] += 1
    for one in set(found) - exact if not line else ():
        tally.exact[one[2]][1] += 1
    left, right = touched(wanted, found)
    for n, one in enumerate(wanted):
        tally.overlap[one[2]][0 if n in left else 2] += 1
    for m, one in enumerate(found):
        on_line = line and any(start < one[1] and one[0] < end for start, end, *_ in wanted)
        if m not in right and not on_line:
            tally.overlap[one[2]][1] += 1
    if not wanted:
        tally.clean += 1
        tally.flagged += bool(found)
