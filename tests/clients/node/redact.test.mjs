// The redaction API through the public Node SDK, as it is. PORTCULLIS_URL and PORTCULLIS_TOKEN say where.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PangeaConfig, PangeaErrors, RedactService } from "pangea-node-sdk";

const config = new PangeaConfig({ baseUrlTemplate: process.env.PORTCULLIS_URL, requestRetries: 0 });
const redact = new RedactService(process.env.PORTCULLIS_TOKEN, config);

const MAIL = "jane.doe@harbour-post.com";
const TEXT = `Mail ${MAIL} today`;

test("a text, plain and with its report", async () => {
  const plain = await redact.redact(TEXT);
  assert.equal(plain.status, "Success");
  assert.deepEqual(plain.result, { redacted_text: "Mail <EMAIL_ADDRESS> today", count: 1 });
  const { result } = await redact.redact(TEXT, { debug: true, return_result: false });
  assert.equal(result.redacted_text, undefined);
  assert.deepEqual(result.report.summary_counts, { EMAIL_ADDRESS: 1 });
  const [found] = result.report.recognizer_results;
  assert.deepEqual([found.text, found.start, found.end], [MAIL, 5, 30]);
});

test("a method for each rule", async () => {
  const overrides = {
    EMAIL_ADDRESS: { redaction_type: "replacement", redaction_value: "[mail]" },
    CREDIT_CARD: {
      redaction_type: "partial_masking",
      partial_masking: { masking_type: "unmask", unmasked_from_right: 4, chars_to_ignore: [" "] },
    },
    US_SSN: { redaction_type: "hash", hash: { hash_type: "sha256" } },
  };
  const text = `${MAIL}, 4111 1111 1111 1111, ssn 536-90-4399`;
  const { result } = await redact.redact(text, { redaction_method_overrides: overrides });
  assert.match(result.redacted_text, /^\[mail\], \*{4} \*{4} \*{4} 1111, ssn [0-9a-f]{64}$/);
  assert.equal(result.count, 3);
});

for (const alphabet of ["numeric", "alphalower", "alphaupper", "alpha", "alphanumericlower", "alphanumericupper", "alphanumeric"]) {
  test(`encrypted in ${alphabet}, and back`, async () => {
    const overrides = { EMAIL_ADDRESS: { redaction_type: "fpe", fpe_alphabet: alphabet, fpe_tweak: "abc1234" } };
    const { result } = await redact.redact(TEXT, { redaction_method_overrides: overrides });
    assert.ok(!result.redacted_text.includes(MAIL) && result.fpe_context);
    const back = await redact.unredact({ redacted_data: result.redacted_text, fpe_context: result.fpe_context });
    assert.equal(back.result.data, TEXT);
  });
}

test("a finding that is only told, and one that is masked", async () => {
  const overrides = { EMAIL_ADDRESS: { redaction_type: "detect_only" }, CREDIT_CARD: { redaction_type: "mask" } };
  const text = `${MAIL}, 4111 1111 1111 1111`;
  const { result } = await redact.redact(text, { debug: true, redaction_method_overrides: overrides });
  assert.deepEqual([result.redacted_text, result.count], [`${MAIL}, ${"*".repeat(19)}`, 1]);
  assert.deepEqual(result.report.recognizer_results.map((found) => found.redacted), [false, true]);
});

test("an answer of a model: other words around what was sent, in an object", async () => {
  const { result } = await redact.redact(TEXT, { llm_request: true });
  const [, address] = result.redacted_text.match(/^Mail (\S+@\S+\.com) today$/);
  assert.notEqual(address, MAIL);
  const answer = { role: "assistant", parts: [`I wrote to ${address}.`, `${address}? Yes.`, 7, null] };
  const back = await redact.unredact({ redacted_data: answer, fpe_context: result.fpe_context });
  assert.deepEqual(back.result.data, { role: "assistant", parts: [`I wrote to ${MAIL}.`, `${MAIL}? Yes.`, 7, null] });
});

test("structured data, whole and by path", async () => {
  const data = { phone: "415-867-5309", user: { mail: MAIL, age: 30 } };
  const whole = await redact.redactStructured(data);
  assert.deepEqual(whole.result, { redacted_data: { phone: "<PHONE_NUMBER>", user: { mail: "<EMAIL_ADDRESS>", age: 30 } }, count: 2 });
  const chosen = await redact.redactStructured(data, { jsonp: ["$.user.*"], llm_request: true });
  assert.equal(chosen.result.redacted_data.phone, data.phone);
  const { redacted_data, fpe_context } = chosen.result;
  assert.deepEqual((await redact.unredact({ redacted_data, fpe_context })).result.data, data);
});

test("faults are the SDK's own errors", async () => {
  await assert.rejects(redact.redact({ not: "a text" }), (error) => {
    assert.ok(error instanceof PangeaErrors.ValidationError);
    assert.deepEqual(error.errors.map(({ code, source }) => [code, source]), [["InvalidString", "/text"]]);
    return true;
  });
  await assert.rejects(redact.unredact({ redacted_data: "x", fpe_context: "AAAA" }), (error) => {
    assert.deepEqual(error.errors.map(({ code, source }) => [code, source]), [["BadFormat", "/fpe_context"]]);
    return true;
  });
  const stranger = new RedactService(`pts_${"z".repeat(32)}`, config);
  await assert.rejects(stranger.redact("x"), PangeaErrors.UnauthorizedError);
});
