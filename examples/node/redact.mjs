// Redacts a document with the public Node SDK (`npm install pangea-node-sdk`), and gets it back.
//
//   PORTCULLIS_URL=http://127.0.0.1:8080 PORTCULLIS_TOKEN=pts_… node examples/node/redact.mjs

import assert from "node:assert/strict";

import { PangeaConfig, RedactService } from "pangea-node-sdk";

const config = new PangeaConfig({ baseUrlTemplate: process.env.PORTCULLIS_URL });
const redact = new RedactService(process.env.PORTCULLIS_TOKEN, config);

const user = { name: "J.", mail: "jane.doe@harbour-post.com", card: "4111 1111 1111 1111" };
const { result } = await redact.redactStructured(user, { llm_request: true });
console.log(result.redacted_data);
assert.equal(result.count, 2);
assert.notEqual(result.redacted_data.mail, user.mail);

const { redacted_data, fpe_context } = result;
const back = await redact.unredact({ redacted_data, fpe_context });
assert.deepEqual(back.result.data, user);
