#!/usr/bin/env bash
# Redacts a text and a part of a document with curl.
#
#   PORTCULLIS_URL=http://127.0.0.1:8080 PORTCULLIS_TOKEN=pts_… ./examples/curl/redact.sh
set -euo pipefail

post() {
    curl -sS --fail-with-body "$PORTCULLIS_URL$1" -H "authorization: Bearer $PORTCULLIS_TOKEN" \
        -H 'content-type: application/json' -d "$2"
}

holds() { [[ $1 == *"$2"* ]] || { printf 'unexpected: %s\n' "$1" >&2; exit 1; }; }

text=$(post /v1/redact '{"text": "Mail jane.doe@harbour-post.com or call 415-867-5309"}')
holds "$text" '"redacted_text":"Mail <EMAIL_ADDRESS> or call <PHONE_NUMBER>"'

# Only what the path finds, and only its last four digits stay.
document=$(post /v1/redact_structured '{
    "data": {"card": "4111 1111 1111 1111", "order": 1.50},
    "jsonp": ["$.card"],
    "redaction_method_overrides": {
        "redaction_type": "partial_masking",
        "partial_masking": {"masking_type": "unmask", "unmasked_from_right": 4, "chars_to_ignore": [" "]}
    }
}')
holds "$document" '"redacted_data":{"card": "**** **** **** 1111", "order": 1.50}'

printf 'redacted: %s\n' "$text" "$document"
