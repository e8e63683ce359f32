#!/usr/bin/env python3
"""Redacts records of a log, and restores one of them, with the public Python SDK (`pip install pangea-sdk`).

PORTCULLIS_URL=http://127.0.0.1:8080 PORTCULLIS_TOKEN=pts_… ./examples/python/structured.py
"""

import os

from pangea import PangeaConfig
from pangea.services import Redact

redact = Redact(os.environ["PORTCULLIS_TOKEN"], config=PangeaConfig(base_url_template=os.environ["PORTCULLIS_URL"]))

records = {
    "records": [
        {"user": "jane.doe@harbour-post.com", "took": 12, "note": "paid with 4111 1111 1111 1111"},
        {"user": "bob@harbour-post.com", "took": 7, "note": "-"},
    ]
}
result = redact.redact_structured(records, jsonp=["$.records[*].note", "$.records[*].user"], llm_request=True, debug=True).result
print(result.redacted_data)
assert [found.data_key for found in result.report.recognizer_results] == ["records.0.user", "records.0.note", "records.1.user"]

# One record alone is enough: surrogates are known again wherever they stand.
record = result.redacted_data["records"][0]
assert "jane" not in str(record)
assert redact.unredact(record, result.fpe_context).result.data == records["records"][0]
