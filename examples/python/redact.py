#!/usr/bin/env python3
"""Redacts a text with the public Python SDK (`pip install pangea-sdk`), and gets it back.

PORTCULLIS_URL=http://127.0.0.1:8080 PORTCULLIS_TOKEN=pts_… ./examples/python/redact.py
"""

import os

from pangea import PangeaConfig
from pangea.services import Redact
from pangea.services.redact import FPEAlphabet, RedactionMethodOverrides, RedactType

redact = Redact(os.environ["PORTCULLIS_TOKEN"], config=PangeaConfig(base_url_template=os.environ["PORTCULLIS_URL"]))

text = "Mail jane.doe@harbour-post.com, ssn 536-90-4399"
plain = redact.redact(text).result
print(plain.redacted_text)
assert plain.redacted_text == "Mail <EMAIL_ADDRESS>, ssn <US_SSN>"

# Digits for digits: what is left still looks like a social security number, and can be undone.
numeric = RedactionMethodOverrides(redaction_type=RedactType.FPE, fpe_alphabet=FPEAlphabet.NUMERIC)
hidden = redact.redact(text, rules=["US_SSN"], redaction_method_overrides=numeric).result
print(hidden.redacted_text)
assert "536-90-4399" not in hidden.redacted_text
assert redact.unredact(hidden.redacted_text, hidden.fpe_context).result.data == text
