"""Values as people and programs write them: what they are called, in which languages and cases, with which separators and
digits. And what looks like them and is none."""

import itertools
import random
import unicodedata

DICE = random.Random(18)


def luhn(payload):
    digits = [int(d) for d in reversed(payload)]
    total = sum(d if n % 2 else (d * 2 - 9 if d > 4 else d * 2) for n, d in enumerate(digits))
    return payload + str(-total % 10)


def aba(n):
    head = "0210%04d" % n
    weights = [3, 7, 1, 3, 7, 1, 3, 7]
    return head + str(-sum(w * int(d) for w, d in zip(weights, head)) % 10)


# What is called so; `n` makes each value another.
VALUES = {
    "password": lambda n: "Tr0ub%03ddor&3" % n,
    "key": lambda n: "".join(DICE.choice("abcdefghjk0123456789") for _ in range(40)),
    "ssn": lambda n: "53622%04d" % (1000 + n),
    "routing": lambda n: aba(1000 + n),
    "phone": lambda n: "415867%04d" % (1000 + n),
    "account": lambda n: "%08d" % (73519000 + n),
    "card": lambda n: luhn("411111111111%03d" % n),
}

# Names, as words, by what they are names of and their language.
NAMES = {
    "password": {
        "en": ["password", "user password", "db password", "passwd", "passphrase"], "de": ["passwort", "kennwort"],
        "es": ["contraseña"], "fr": ["mot de passe"], "it": ["parola chiave"], "pt": ["senha", "palavra passe"],
        "nl": ["wachtwoord"], "sv": ["lösenord"], "da": ["adgangskode"], "no": ["passord"], "fi": ["salasana"],
        "pl": ["hasło"], "cs": ["heslo"], "sl": ["geslo"], "hr": ["lozinka"], "ro": ["parolă"], "hu": ["jelszó"],
        "tr": ["şifre"], "el": ["κωδικός"], "ru": ["пароль"], "uk": ["пароль"], "bg": ["парола"], "sr": ["лозинка"],
        "lt": ["slaptažodis"], "et": ["parool"], "id": ["kata sandi"], "vi": ["mật khẩu"], "ar": ["كلمة المرور"],
        "fa": ["رمز عبور"], "he": ["סיסמה"], "hi": ["पासवर्ड"], "th": ["รหัสผ่าน"], "zh": ["密码", "密碼"],
        "ja": ["パスワード"], "ko": ["비밀번호"],
    },
    "key": {"en": ["api key", "secret key", "client secret", "access token", "private key"], "fr": ["clé api"],
            "zh": ["密钥"], "ja": ["秘密鍵"]},
    "ssn": {"en": ["ssn", "social security number", "social security"]},
    "routing": {"en": ["routing", "routing number", "aba"]},
    "phone": {
        "en": ["phone", "phone number", "telephone", "mobile"], "de": ["telefon", "handynummer"], "es": ["teléfono"],
        "fr": ["téléphone"], "it": ["cellulare"], "pt": ["telemóvel"], "nl": ["telefoon"], "sv": ["mobil"],
        "da": ["tlf"], "no": ["telefon"], "fi": ["puhelin"], "pl": ["numer telefonu"], "cs": ["telefonní číslo"],
        "sk": ["telefón"], "sl": ["telefonska številka"], "hr": ["broj telefona"], "ro": ["număr de telefon"],
        "hu": ["telefonszám"], "tr": ["cep telefonu"], "el": ["τηλέφωνο"], "ru": ["номер телефона"],
        "uk": ["телефон"], "bg": ["телефон"], "sr": ["телефон"], "lt": ["telefonas"], "lv": ["tālrunis"],
        "et": ["telefon"], "id": ["nomor telepon"], "vi": ["số điện thoại"], "sw": ["simu"], "ar": ["رقم الهاتف"],
        "fa": ["تلفن"], "he": ["טלפון"], "hi": ["फ़ोन", "मोबाइल"], "bn": ["ফোন"], "th": ["โทรศัพท์"],
        "zh": ["电话", "手机号码"], "ja": ["電話番号"], "ko": ["전화", "휴대폰"],
    },
    "account": {"en": ["account number", "bank account"], "de": ["kontonummer"], "es": ["número de cuenta"],
                "fr": ["numéro de compte"], "ru": ["номер счета"], "zh": ["银行账号"], "ja": ["口座番号"], "ko": ["계좌번호"]},
    "card": {"en": ["card", "card number", "pan"]},
}

CASES = {
    "snake": lambda words: "_".join(words),
    "kebab": lambda words: "-".join(words),
    "dotted": lambda words: ".".join(words),
    "spaced": lambda words: " ".join(words),
    "camel": lambda words: words[0] + "".join(map(str.capitalize, words[1:])),
    "pascal": lambda words: "".join(map(str.capitalize, words)),
    "upper": lambda words: "_".join(words).upper(),
    "title": lambda words: " ".join(map(str.capitalize, words)),
}


def spelled():
    """(kind, language, name, value): each name once."""
    count, seen = itertools.count(), set()
    for kind, languages in NAMES.items():
        for language, names in languages.items():
            for name, case in itertools.product(names, CASES.values()):
                name = case(name.split())
                if name not in seen:
                    seen.add(name)
                    yield kind, language, name, VALUES[kind](next(count))


NAMED = list(spelled())

# Numbers are JSON numbers, too, and values lie in objects and lists that have the name.
NESTED = [
    lambda name, value: {name: {"value": value}},
    lambda name, value: {name: [value]},
    lambda name, value: {name + ("" if name[-1] in "sS" else "S" if name.isupper() else "s"): [value]},
    lambda name, value: {"user": {name: value}},
]

# Members that stay as they are.
INNOCENT = [
    {"order_number": "1001234567", "invoice": "20261122", "version": "2.0.17", "build": "10.4.2"},
    {"created_at": "2026-11-22T10:00:00Z", "date": "2026-11-22", "updated": 1763805600},
    {"id": "6f1c2a0e-9b1d-4c55-8a3e-2f9f0c7f3b11", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
    {"commit": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "etag": "33a64df551425fcc55e4d42a148795d9f25f89d4"},
    {"max_tokens": 4096, "total_tokens": 1234567, "n": 1, "id": 12345678, "token_type": "bearer", "temperature": 0.7},
    {"password": "string", "passwort": "********", "secret": "${SECRET}", "api_key": "<your key>", "token": ""},
    {"properties": {"password": {"type": "string", "description": "What the user logs in with", "minLength": 8},
                    "phone": {"type": "string", "pattern": "^[0-9]{10}$", "title": "Telephone"},
                    "ssn": {"type": "string", "format": "ssn", "maxLength": 11}}, "required": ["password", "phone"]},
    {"password_policy": "strong", "password_reset_url": "https://example.com/reset", "tokens_used": 1234567},
]

# These, where names and values are told apart; in a text, a name is one of the words before a value.
INNOCENT_MEMBERS = [
    {"password": "Mot de passe", "contraseña": "Contraseña", "phone_verified_at": 1763805600, "account_count": 12345678},
]

SEPARATORS = {
    "space": " ", "hyphen": "-", "no-break space": "\u00a0", "narrow no-break space": "\u202f", "thin space": "\u2009",
    "figure space": "\u2007", "ideographic space": "\u3000", "hyphen (U+2010)": "\u2010", "no-break hyphen": "\u2011",
    "figure dash": "\u2012", "en dash": "\u2013", "em dash": "\u2014", "bar": "\u2015", "minus": "\u2212",
    "soft hyphen": "\u00ad", "zero-width space": "\u200b", "zero-width non-joiner": "\u200c",
    "zero-width joiner": "\u200d", "word joiner": "\u2060", "byte order mark": "\ufeff", "full-width hyphen": "\uff0d",
}
# A separator of two, and of cards alone.
DOUBLED = {"double space": "  ", "dot": "."}

GROUPED = {
    "card": ("", ["4012", "8888", "8888", "1881"]),
    "phone": ("phone ", ["415", "867", "5309"]),
    "ssn": ("ssn ", ["536", "22", "8726"]),
    "iban": ("", ["GB82", "WEST", "1234", "5698", "7654", "32"]),
}

DIGITS = {"full-width": 0xFF10, "Arabic-Indic": 0x660, "Persian": 0x6F0, "Devanagari": 0x966, "Bengali": 0x9E6,
          "Thai": 0xE50, "mathematical": 0x1D7CE}


def separated():
    """(what, text): each text holds the value of `GROUPED`, in words that hold no other."""
    for kind, (before, groups) in GROUPED.items():
        for name, separator in SEPARATORS.items():
            yield kind, name, before + separator.join(groups)
        for name, separator in DOUBLED.items() if kind == "card" else []:
            yield kind, name, before + separator.join(groups)
        for at in range(1, len(groups)):
            for end in ("\n", "\r\n", "\n  "):
                yield kind, "line break", before + " ".join(groups[:at]) + end + " ".join(groups[at:])
            if kind in ("card", "phone", "ssn"):
                yield kind, "hyphen and line break", before + "-".join(groups[:at]) + "-\n" + "-".join(groups[at:])
        for name, zero in DIGITS.items():
            wide = str.maketrans({str(d): chr(zero + d) for d in range(10)})
            yield kind, name + " digits", before + " ".join(groups).translate(wide)
            if kind != "iban":
                yield kind, name + " digits in a row", before + "".join(groups).translate(wide)
    yield "card", "fraction", "4012888888881881.0"


def read(text):
    """Letters and digits alone, as ASCII."""
    plain = (str(unicodedata.digit(c)) if c.isdecimal() else c for c in unicodedata.normalize("NFKC", text))
    return "".join(c for c in plain if c.isascii() and c.isalnum())
