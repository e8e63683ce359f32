"""Pages, messages and tables with values in the ways these are written."""

import email.message
import email.policy

from . import CARD, EMAIL, KEPT, PHONE, SSN, VALUES, document, office, pdf, sentences


@document("page.html")
def page():
    """In text, split by tags and written with entities; in attributes, titles, metadata, comments."""
    entities = "".join("&#%d;" % ord(c) for c in EMAIL)
    return (
        "<!doctype html><html><head><meta charset=utf-8><title>SSN {s}</title><meta name=author content='{e}'></head><body>"
        "<p>{k}</p><p>mail <b>{e1}</b><i>{e2}</i></p><p>mail {n}</p><p title='card {c}'>paragraph</p>"
        "<img alt='call {p}' src='cid:x'><!-- SSN {s} --><input type=hidden value='card {c}'>"
        "<a href='mailto:{e}?subject=SSN%20{s}'>write</a><div style='display:none'>call {p}</div>"
        "<script>var mail = '{e}'</script><template>card {c}</template></body></html>"
    ).format(s=SSN, e=EMAIL, c=CARD, p=PHONE, k=KEPT, n=entities, e1=EMAIL[:7], e2=EMAIL[7:]).encode()


@document("picture.svg")
def picture():
    rows = "".join("<text y='%d'>%s</text>" % (20 * n, text) for n, text in enumerate(sentences(), 1))
    return ("<svg xmlns='http://www.w3.org/2000/svg'><desc>%s</desc>%s</svg>" % (EMAIL, rows)).encode()


def message(**heads):
    made = email.message.EmailMessage(policy=email.policy.SMTP)
    made["From"], made["To"], made["Subject"] = "harbour@example.org", "office@example.org", "About lanterns"
    for name, value in heads.items():
        made[name.replace("_", "-")] = value
    return made


@document("quoted-printable.eml")
def quoted_printable():
    made = message(Reply_To=EMAIL, X_Note="SSN %s, grüßt" % SSN)
    made.set_content("\n".join(sentences()) + "\nGrüße " + "long " * 30 + EMAIL + "\n", cte="quoted-printable")
    made.add_alternative("<p>%s</p><p>grün</p>" % "</p><p>".join(sentences()), subtype="html", cte="quoted-printable")
    return made.as_bytes()


@document("base64-parts.eml")
def base64_parts():
    made = message(Comments="call " + PHONE)
    made.replace_header("Subject", "Grüße an " + EMAIL)
    made.set_content("\n".join(sentences()), cte="base64")
    made.add_alternative("<p>%s</p>" % "</p><p>".join(sentences()), subtype="html", cte="base64")
    return made.as_bytes()


@document("attachments.eml", attachments=True)
def attachments():
    made = message()
    made.set_content(KEPT + "\ncall " + PHONE)
    made.add_attachment("\n".join(sentences()), filename="for %s.txt" % EMAIL)
    types = "vnd.openxmlformats-officedocument.wordprocessingml.document"
    made.add_attachment(office.split_runs(), maintype="application", subtype=types, filename="letter.docx")
    made.add_attachment(pdf.kerned(), maintype="application", subtype="pdf", filename="letter.pdf")
    inner = message(Comments="card " + CARD)
    inner.set_content("SSN " + SSN, cte="base64")
    made.add_attachment(inner)
    return made.as_bytes()


@document("table.csv")
def table():
    rows = ["what,whom,note", '"%s",x,1' % KEPT]
    rows += ['"%s",y,"say ""%s"""' % (text, value) for text, value in zip(sentences(), VALUES)]
    return "\r\n".join(rows).encode()


@document("columns.csv", values=office.NUMBERS)
def columns():
    """What only the head of its column tells."""
    return ("SSN;Credit card;Phone;Lanterns\r\n%s;%s;%s;536228999\r\n;;;%s\r\n" % (*office.NUMBERS, KEPT)).encode()


@document("letter.rtf")
def letter():
    body = "\\par ".join([KEPT, *sentences(), "mail {\\b %s}{\\i %s}" % (EMAIL[:9], EMAIL[9:])])
    info = "{\\info{\\author %s}{\\title card %s}}" % (EMAIL, CARD)
    return ("{\\rtf1\\ansi%s{\\v SSN %s\\par}\\pard %s\\par}" % (info, SSN, body)).encode()
