"""Files as scanners see them, the same for a seed: logs, source and prose in equal parts, with secrets and personal values planted
among their lines, about one in forty of them. Without any, the same lines are text in which nothing is to be found. All values are made
by dice; formats and checksums are as their makers say."""

import base64
import json
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "detect"))

from texts import DIGITS, LOWER, UPPER, WORDS, Writer  # noqa: E402

NOUNS = WORDS[WORDS.index("order") :]
FILE = 64 << 10
ONE_IN = 40
BASE32, BASE62 = UPPER + "234567", DIGITS + UPPER + LOWER
TEXTS = {"log": ".log", "source": ".py", "prose": ".txt"}

LINES = {
    "log": [
        "{ts} INFO  {service}[{n}] request {uuid} path=/v1/{word}/{n} status=200 took={n}ms",
        '{{"ts":"{ts}","level":"warn","service":"{service}","trace":"{hex32}","span":"{hex16}","msg":"retry {n} of {word} {word}: upstream answered 503"}}',
        '{service}.{zone}.internal - - [{clf}] "GET /{word}/{word}.js?v={n} HTTP/1.1" 200 {n} "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"',
        "{ts} ERROR {service}[{n}] {var}.{var}(): timeout after {n} ms, attempt {n}, batch {digits16}",
        'level=debug ts={ts} caller=cache.go:{n} msg="evicted {n} entries of {word}" digest=sha256:{hex64}',
        '{ts} DEBUG sql="SELECT {var}, {var} FROM {word}_{word} WHERE {var} = $1" rows={n} took={n}us',
        "{ts} WARN  {service}[{n}] token expired, asking for a new one (key id {hex8}, password login is off)",
    ],
    "source": [
        "def {var}({word}, {word}=None):",
        '    """{Sentence}"""',
        "    {var} = {word}.{var}({n}, retries={n})",
        '    logger.info("{word} %s took %d ms", {var}, {n})',
        "    if not {var} or {var} > {n}:",
        '        raise ValueError("no {word} for {word}")',
        "    return [{word} for {word} in {var} if {word}.{var} != 0x{hex8}]",
        'password = os.environ["{caps}_PASSWORD"]',
        "api_key: ${{{caps}_API_KEY}}",
        "    token = await self.{var}(secret=settings.{var}_secret)",
        '      "integrity": "sha512-{base64}",',
        '      "resolved": "https://registry.example.org/{word}/-/{word}-{version}.tgz",',
        "# {Sentence}",
        "commit {hex40}",
        '<svg viewBox="0 0 {n} {n}"><path d="M{n} {n}L{n} {n}h{n}v{n}z" fill="#{hex6}"/></svg>',
        "",
    ],
    "prose": [
        "Thank you for your letter about the {word} and the {word}. We have looked into it, and {sentence}",
        "As agreed, the {word} was sent on Tuesday, as order number {n}, and it should arrive within a week.",
        "The meeting is moved to next Thursday at ten. {Sentence} Please bring the {word} with you.",
        "{Sentence} We will write again as soon as we know more about the {word}, which may take {n} days.",
        "In our experience a {word} of this kind lasts for years, if it is cleaned and {sentence}",
        "{Sentence} Nobody had expected that, and the {word} of the second quarter shows it: it is less than before.",
        "",
    ],
}
SENTENCES = [
    "the parcel left our house in time.",
    "it was the {word} that had to be replaced.",
    "there is nothing wrong with the {word} as far as we can see.",
    "every {word} is counted once and every {word} twice.",
    "the price of the {word} does not change before the end of the year.",
    "what has been paid for the {word} is returned to the account that it came from.",
]
FORMS = {
    "e-mail": ["{ts} INFO {service} login user={value} took={n}ms", '    "contact": "{value}",', "Please write to {value} if anything is missing."],
    "telephone": ["{ts} INFO {service} sms to={value} parts=1", 'phone: "{value}"', "You can call me on {value} in the afternoon."],
    "card": ["{ts} INFO {service} payment card={value} amount={n}", 'CARD_NUMBER = "{value}"', "I have paid with my credit card {value} last week."],
    "social security": ["{ts} INFO {service} applicant ssn={value}", '    "ssn": "{value}",', "My social security number is {value}."],
    "IBAN": ["{ts} INFO {service} transfer iban={value} amount={n}", 'iban: "{value}"', "Please pay into the account {value}."],
    "IP address": ['{value} - - [{clf}] "GET /{word} HTTP/1.1" 200 {n}', 'HOST = "{value}"', "The server at {value} does not answer."],
    "name": ['{ts} INFO {service} signed in: name="{value}"', '    "full_name": "{value}",', "I have spoken with {value} about this yesterday."],
    "AWS key pair": [
        "{ts} DEBUG {service} env AWS_ACCESS_KEY_ID={akia} AWS_SECRET_ACCESS_KEY={value}",
        "aws_access_key_id = {akia}\naws_secret_access_key = {value}",
        "The access key is {akia}, and its secret access key {value} goes with it.",
    ],
    "GitHub token": ["{ts} DEBUG {service} GITHUB_TOKEN={value}", 'github_token = "{value}"', "Use the token {value} for the time being."],
    "npm token": ["{ts} DEBUG {service} //npm.example.com/:_authToken={value}", 'NPM_TOKEN = "{value}"', "The npm token {value} is for builds only."],
    "Slack token": ["{ts} DEBUG {service} slack token={value}", 'SLACK_BOT_TOKEN = "{value}"', "The bot logs in with {value} as before."],
    "Stripe key": ["{ts} DEBUG {service} stripe key={value}", 'stripe.api_key = "{value}"', "The shop has the live key {value} since Monday."],
    "Google key": ["{ts} DEBUG {service} GET /maps/api/geocode/json?key={value}", 'GOOGLE_API_KEY = "{value}"', "Without the key {value} there is no map."],
    "OpenAI key": ["{ts} DEBUG {service} OPENAI_API_KEY={value}", 'client = OpenAI(api_key="{value}")', "The model is called with {value} as its key."],
    "JWT": ['{ts} DEBUG {service} "Authorization: Bearer {value}"', 'JWT = "{value}"', "The request was sent with {value} in its head."],
    "private key": ["{value}"] * 3,
    "password": ["{ts} DEBUG {service} db_user=app db_password={value}", 'DB_PASSWORD = "{value}"', "The test account has the password {value} until then."],
    "password in a URL": [
        "{ts} DEBUG {service} connecting to postgres://app:{value}@db.{zone}.internal:5432/{word}",
        'DATABASE_URL = "postgres://app:{value}@db.{zone}.internal:5432/{word}"',
        "The database is at mysql://app:{value}@db.{zone}.internal:3306/{word} now.",
    ],
}
PERSONAL = ["e-mail", "telephone", "card", "social security", "IBAN", "IP address", "name"]
SECRETS = [kind for kind in FORMS if kind not in PERSONAL]
DOMAINS = ("harbour-post", "corp-mail", "northwind")
GIVEN = "Maria Thomas Ingrid Pablo Susan Karl Helen Peter Laura Michael Emily Daniel Anna Robert Julia Martin".split()
FAMILY = "Lopez Schneider Johnson Bergstrom Rossi Williams Novak Dubois Anderson Fischer Moreau Jensen Taylor Murphy Kowalski Peterson".split()


@dataclass
class Planted:
    """A value that a file has."""

    kind: str
    text: str
    file: str
    line: int
    value: str


class Lines(Writer):
    """Fields of the lines, by their names."""

    planting = ""

    def __getitem__(self, name):
        if name.startswith("hex"):
            return "%0*x" % (int(name[3:]), self.dice.getrandbits(4 * int(name[3:])))
        return getattr(self, "make_" + name)()

    def some(self, alphabet, length):
        return "".join(self.dice.choices(alphabet, k=length))

    def make_value(self):
        return self.planting

    def make_ts(self):
        dice = self.dice.randrange
        return "2026-%02d-%02dT%02d:%02d:%02d.%03dZ" % (1 + dice(12), 1 + dice(28), dice(24), dice(60), dice(60), dice(1000))

    def make_clf(self):
        dice = self.dice.randrange
        return "%02d/Oct/2026:%02d:%02d:%02d +0000" % (1 + dice(28), dice(24), dice(60), dice(60))

    def make_word(self):
        return self.dice.choice(NOUNS)

    def make_var(self):
        return self.dice.choice(WORDS) + "_" + self.dice.choice(NOUNS)

    def make_caps(self):
        return self.dice.choice(NOUNS).upper()

    def make_service(self):
        return self.dice.choice(("orders", "billing", "gateway", "search", "mailer")) + "-api"

    def make_zone(self):
        return self.dice.choice(("eu1", "eu2", "us1"))

    def make_n(self):
        return self.dice.randrange(3, 4000)

    def make_version(self):
        return "%d.%d.%d" % (self.dice.randrange(9), self.dice.randrange(30), self.dice.randrange(12))

    def make_digits16(self):
        # What is no card's number.
        return "9" + self.some(DIGITS, 15)

    def make_uuid(self):
        return "-".join(self["hex%d" % size] for size in (8, 4, 4, 4, 12))

    def make_base64(self):
        return base64.b64encode(self.dice.randbytes(64)).decode()

    def make_sentence(self):
        return self.dice.choice(SENTENCES).format_map(self)

    def make_Sentence(self):
        return self.make_sentence().capitalize()

    def make_akia(self):
        return "AKIA" + self.some(BASE32, 16)

    def checked(self, prefix):
        """A token that ends in the CRC-32 of its random part, in base 62."""
        random = self.some(BASE62, 30)
        rest, check = zlib.crc32(random.encode()), ""
        for _ in range(6):
            rest, digit = divmod(rest, 62)
            check = BASE62[digit] + check
        return prefix + random + check

    def jwt(self):
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.some(DIGITS, 8), "iat": 1790000000, "scope": self.make_word()}]
        parts = [json.dumps(part, separators=(",", ":")).encode() for part in parts] + [self.dice.randbytes(32)]
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    def private_key(self):
        # The head of a key of 2048 bits, and dice.
        text = base64.b64encode(bytes.fromhex("308204a30201000282010100") + self.dice.randbytes(1180)).decode()
        lines = [text[at : at + 64] for at in range(0, len(text), 64)]
        return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])

    def value(self, kind):
        some, dice = self.some, self.dice
        makers = {
            "e-mail": lambda: "%s.%s%d@%s.com" % (some(LOWER, 5), some(LOWER, 7), dice.randrange(99), dice.choice(DOMAINS)),
            "telephone": lambda: "+1 %s %d %s" % (dice.choice(("415", "212", "617", "303")), self.exchange(), some(DIGITS, 4)),
            "card": lambda: self.card() if dice.random() < 0.5 else re.sub("(....)(?=.)", r"\1 ", self.card()),
            "social security": self.ssn,
            "IBAN": self.iban,
            "IP address": lambda: ".".join(map(str, [dice.choice((81, 93, 185)), *(dice.randrange(1, 255) for _ in range(3))])),
            "name": lambda: dice.choice(GIVEN) + " " + dice.choice(FAMILY),
            "AWS key pair": lambda: some(BASE62 + "+/", 40),
            "GitHub token": lambda: self.checked("ghp_"),
            "npm token": lambda: self.checked("npm_"),
            "Slack token": lambda: "xoxb-%s-%s-%s" % (some("123456789", 12), some("123456789", 12), some(BASE62, 24)),
            "Stripe key": lambda: "sk_live_" + some(BASE62, 32),
            "Google key": lambda: "AIza" + some(BASE62 + "-_", 35),
            "OpenAI key": lambda: "sk-proj-" + some(BASE62, 74) + "T3BlbkFJ" + some(BASE62, 74),
            "JWT": self.jwt,
            "private key": self.private_key,
            "password": lambda: some(BASE62, 8) + dice.choice("!-_") + some(BASE62, 7),
            "password in a URL": lambda: some(BASE62, 16),
        }
        return makers[kind]()


def text(lines, kind, size, file="", planted=None):
    """Lines of one kind. Where something is to be planted it is told to this list."""
    made, total, line = [], 0, 1
    while total < size:
        if planted is not None and lines.dice.randrange(ONE_IN) == 0:
            what = lines.dice.choice(list(FORMS))
            lines.planting = lines.value(what)
            out = FORMS[what][list(TEXTS).index(kind)].format_map(lines)
            planted.append(Planted(what, kind, file, line + out[: out.index(lines.planting)].count("\n"), lines.planting))
        else:
            out = lines.dice.choice(LINES[kind]).format_map(lines)
        made.append(out)
        line += out.count("\n") + 1
        total += len(out) + 1
    return "\n".join(made) + "\n"


def write(folder, size, seed, clean=False):
    """Files until so many bytes are written, and what is planted in them."""
    lines, planted, total = Lines(seed), [], 0
    Path(folder).mkdir()
    while total < size:
        number = total // FILE
        kind = list(TEXTS)[number % len(TEXTS)]
        file = "%s-%04d%s" % (kind, number, TEXTS[kind])
        said = text(lines, kind, min(FILE, size - total), file, None if clean else planted)
        Path(folder, file).write_text(said)
        total += FILE
    return planted
