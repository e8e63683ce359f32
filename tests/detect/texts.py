"""Text as a gateway sees it: chat and JSON logs with about one byte in a hundred of values, marked. The same for a
seed."""

import random
import string

WORDS = """the of and to in is that for it as was with be by on not he this are at from but have an they which one you
were all her she there would their we him been has when who will no more if out so up said what its about than into
them can only other time new some could these two may first then do any like my now over such our me even most made
after also did many off before must well back through years much where your way down should because long each just
those people how little good world make very year still see own work men day get here old between both life being
under three never know same last another while us might great go come since against right came take used few house
during without again place around small however found part school every does got number course water until always
away public something fact less though far put head think called set almost enough end took night yet system better
told city going order ticket refund invoice shipping account manager meeting report quarter revenue customer service
latency request response cache deploy server client function variable queue index schema retry timeout pipeline
prompt context window assistant message embedding vector gradient batch review""".split()
LOWER, UPPER, DIGITS, HEX = string.ascii_lowercase, string.ascii_uppercase, string.digits, "0123456789abcdef"


class Writer:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.values = (
            ("EMAIL_ADDRESS", "mail ", self.email),
            ("PHONE_NUMBER", "call ", lambda: f"+1 {self.dice.randint(201, 989)}-{self.exchange()}-{self.some(DIGITS, 4)}"),
            ("CREDIT_CARD", "card ", self.card),
            ("US_SSN", "ssn ", self.ssn),
            ("IP_ADDRESS", "host ", lambda: ".".join(str(self.dice.randint(1, 254)) for _ in range(4))),
            ("IBAN_CODE", "iban ", self.iban),
            ("SECRET", "key ", lambda: "AKIA" + self.some(UPPER + "234567", 16)),
            ("SECRET", "token ", lambda: "sk-proj-" + self.some(LOWER + UPPER + DIGITS, 48)),
            ("URL", "see ", lambda: f"https://{self.some(LOWER, 8)}.example.org/{self.some(LOWER, 6)}"),
        )  # fmt: skip

    def some(self, alphabet, length):
        return "".join(self.dice.choice(alphabet) for _ in range(length))

    def exchange(self):
        # A number that may be dialled: 555 and N11 are nobody's.
        exchange = self.dice.randint(200, 998)
        return exchange + 1 if exchange == 555 or exchange % 100 == 11 else exchange

    def email(self):
        return f"{self.some(LOWER, 6)}.{self.some(LOWER, 7)}{self.dice.randint(1, 99)}@example.{self.dice.choice(['com', 'net'])}"

    def card(self):
        body = "4" + self.some(DIGITS, 14)
        doubled = (int(digit) * (2 - n % 2) for n, digit in enumerate(body))
        return body + str(-sum(digit - 9 * (digit > 9) for digit in doubled) % 10)

    def ssn(self):
        return f"{self.dice.randint(100, 665)}-{self.dice.randint(10, 99)}-{self.dice.randint(1000, 9999)}"

    def iban(self):
        account = self.some("123456789", 1) + self.some(DIGITS, 17)
        return f"DE{98 - int(account + '131400') % 97:02}{account}"

    def words(self, least, most):
        return " ".join(self.dice.choice(WORDS) for _ in range(self.dice.randint(least, most)))

    def chat(self, value):
        lead, tail = self.words(6, 40), self.words(6, 60)
        if self.dice.random() < 0.3:
            tail += f" {self.dice.randint(0, 99999)} {self.words(1, 9)}"
        return f"{self.dice.choice(['User', 'Assistant'])}: {lead.capitalize()} ", value, f" {tail}.\n"

    def log(self, value):
        at = (
            f"2026-{self.dice.randint(1, 12):02}-{self.dice.randint(1, 28):02}T{self.dice.randint(0, 23):02}"
            f":{self.dice.randint(0, 59):02}:{self.dice.randint(0, 59):02}.{self.dice.randint(0, 999):03}Z"
        )
        head = f'{{"ts":"{at}","level":"info","trace_id":"{self.some(HEX, 32)}","span":{self.dice.randrange(10**6)}'
        head += f',"ms":{self.dice.random() * 900:.2f},"bytes":{self.dice.randrange(10**7)},"msg":"{self.words(4, 14)} '
        ids = [self.some(HEX, 8), self.some(HEX, 4), "4" + self.some(HEX, 3), "a" + self.some(HEX, 3), self.some(HEX, 12)]
        return head, value, f'","uuid":"{"-".join(ids)}"}}\n'


def rows(size, seed):
    """Rows of some 4 KB until `size` characters are written."""
    writer, made, total = Writer(seed), [], 0
    while total < size:
        text, spans = "", []
        while len(text) < 4000:
            entity, word, make = writer.dice.choice(writer.values)
            value = make() if writer.dice.random() < 0.2 else ""
            lead, value, tail = (writer.chat if writer.dice.random() < 0.5 else writer.log)(value)
            start = len(text) + len(lead) + (len(word) if value else 0)
            text += lead + (word if value else "") + value + tail
            if value:
                spans.append({"start": start, "end": start + len(value), "entity": entity})
        total += len(text)
        made.append({"id": f"own-{seed}-{len(made)}", "text": text, "spans": spans})
    return made
