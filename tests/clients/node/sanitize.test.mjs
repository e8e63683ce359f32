// File sanitization through the public Node SDK, as it is. PORTCULLIS_URL and PORTCULLIS_TOKEN say where.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PangeaConfig, PangeaErrors, SanitizeService, TransferMethod } from "pangea-node-sdk";

const config = new PangeaConfig({ baseUrlTemplate: process.env.PORTCULLIS_URL, requestRetries: 0 });
const sanitize = new SanitizeService(process.env.PORTCULLIS_TOKEN, config);

const MAIL = "jane.doe@harbour-post.com";
const FILE = { file: Buffer.from(`hello ${MAIL}, see https://evil.example.net/a\n`), name: "note.txt" };
const CONTENT = { redact: true, url_intel: false, domain_intel: false };

async function checked(response) {
  assert.equal(response.status, "Success");
  const { data, dest_url } = response.result;
  assert.equal(data.malicious_file, false);
  assert.equal(data.redact.redaction_count, 1);
  assert.equal(data.defang.defanged_count, 1);
  const file = await sanitize.downloadFile(dest_url);
  const text = Buffer.from(file.file).toString();
  assert.ok(text.startsWith("hello <EMAIL_ADDRESS>") && text.includes("hxxps://evil[.]example[.]net/a"), text);
}

test("a file in the call", async () => {
  const request = { transfer_method: TransferMethod.MULTIPART, content: CONTENT, uploaded_file_name: "note.txt" };
  await checked(await sanitize.sanitize(request, FILE));
});

test("a file that is posted to a URL", async () => {
  const request = { transfer_method: TransferMethod.POST_URL, content: CONTENT, uploaded_file_name: "note.txt" };
  await checked(await sanitize.sanitize(request, FILE));
});

test("a URL to put a file to", async () => {
  const request = { transfer_method: TransferMethod.PUT_URL, content: CONTENT, uploaded_file_name: "note.txt" };
  const accepted = await sanitize.requestUploadURL(request);
  const put = await fetch(accepted.accepted_result.put_url, { method: "PUT", body: FILE.file });
  assert.ok(put.ok);
  await checked(await sanitize.pollResult(accepted.request_id));
});

test("faults, each at its place", async () => {
  const request = { transfer_method: TransferMethod.SOURCE_URL, source_url: "ftp://a/b", content: { defang: "yes" } };
  await assert.rejects(sanitize.sanitize(request), (error) => {
    assert.ok(error instanceof PangeaErrors.ValidationError);
    assert.deepEqual(error.errors.map((fault) => fault.source), ["/content/defang", "/source_url"]);
    return true;
  });
});
