#!/usr/bin/env python3
"""FF1 (SP 800-38G) once more, straight from its text and only with integers: remakes ff1.tsv.

    ./ff1.py > ff1.tsv        (needs the package `cryptography`)

Columns: alphabet, key, tweak (both in hex), text, the same with the alphabet's symbols encrypted.
"""

import random
import string
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALPHABETS = {
    "numeric": DIGITS,
    "alphalower": LOWER,
    "alphaupper": UPPER,
    "alpha": LOWER + UPPER,
    "alphanumericlower": DIGITS + LOWER,
    "alphanumericupper": DIGITS + UPPER,
    "alphanumeric": DIGITS + LOWER + UPPER,
}


def aes(key, blocks):
    """CBC-MAC: the last block of CBC with a zero vector."""
    encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    return (encryptor.update(blocks) + encryptor.finalize())[-16:]


def ecb(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def number(digits, radix):
    value = 0
    for digit in digits:
        value = value * radix + digit
    return value


def digits_of(value, radix, length):
    out = []
    for _ in range(length):
        value, digit = divmod(value, radix)
        out.append(digit)
    return out[::-1]


def ff1(key, radix, tweak, x):
    """Algorithm 7."""
    n = len(x)
    u, v = n // 2, n - n // 2
    a, b = x[:u], x[u:]
    size = (((radix**v - 1).bit_length()) + 7) // 8
    d = 4 * ((size + 3) // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big") + len(tweak).to_bytes(4, "big")
    for i in range(10):
        q = tweak + bytes((-len(tweak) - size - 1) % 16) + bytes([i]) + number(b, radix).to_bytes(size, "big")
        r = aes(key, p + q)
        s = r
        for j in range(1, (d + 15) // 16):
            s += ecb(key, bytes(one ^ two for one, two in zip(r, j.to_bytes(16, "big"))))
        y = int.from_bytes(s[:d], "big")
        m = u if i % 2 == 0 else v
        c = (number(a, radix) + y) % radix**m
        a, b = b, digits_of(c, radix, m)
    return a + b


def in_place(alphabet, key, tweak, text):
    symbols = [alphabet.index(c) for c in text if c in alphabet]
    changed = iter(ff1(key, len(alphabet), tweak, symbols))
    return "".join(alphabet[next(changed)] if c in alphabet else c for c in text)


def main():
    dice = random.Random(38)
    for name, alphabet in ALPHABETS.items():
        for length in (6, 7, 10, 16, 19, 40):
            key = dice.randbytes(dice.choice((16, 32)))
            tweak = dice.choice((b"", b"abc1234", dice.randbytes(16), dice.randbytes(32)))
            # Something outside the alphabet in between, which must stay.
            inside = [dice.choice(alphabet) for _ in range(length)]
            inside.insert(length // 2, dice.choice("-. /"))
            text = "".join(inside)
            sys.stdout.write("\t".join((name, key.hex(), tweak.hex(), text, in_place(alphabet, key, tweak, text))) + "\n")


if __name__ == "__main__":
    # SP 800-38G, sample 1 and 3.
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    assert in_place(DIGITS, key, b"", "0123456789") == "2433477484"
    assert in_place(DIGITS + LOWER, key, bytes.fromhex("3737373770717273373737"), "0123456789abcdefghi") == "a9tv40mll9kdu509eum"
    main()
