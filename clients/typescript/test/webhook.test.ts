import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { RecentDeliveries, WebhookHandler, type WebhookOptions } from "../src/index.js";

import { addWebhook, client, courseId, provision } from "./program.js";

test("the handler accepts what the program sends, in each kind, once", { timeout: 60_000 }, async () => {
  const got: string[] = [];
  const { promise: complete, resolve } = withResolvers();
  const options: WebhookOptions = {
    secrets: [],
    joined: ({ data }, { attempt }) => {
      got.push(`joined ${data.externalId} attempt ${attempt}`);
      if (attempt === 1) throw new Error("the first one fails and comes again");
    },
    assignment: ({ event, data }) => void got.push(`${event} ${data.externalId}`),
    removed: ({ data }) => {
      got.push(`removed ${data.reason}`);
      resolve();
    },
  };
  const handler = new WebhookHandler(options);
  const server = createServer((request, response) => void handler.node(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  options.secrets.push(await addWebhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  await provision("hook");
  await client.assign({ employeeExternalId: "hook", courseId, externalId: "hook" });
  await client.updateEmployee("hook", { active: false });
  await complete;
  server.closeAllConnections();
  server.close();
  assert.deepEqual(got, ["joined hook attempt 1", "joined hook attempt 2", "assignment.created hook", "removed offboarded"]);
});

const secret = "whsec_c2VjcmV0";

/** signed returns a webhook request, signed now unless a header replaces a part of the signature. */
function signed(headers: Record<string, string> = {}): Request {
  const body = '{"event":"employee.removed","data":{"reason":"deleted"}}';
  const now = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from("secret")).update(`1.${now}.${body}`).digest("base64");
  const genuine = { "webhook-id": "1", "webhook-timestamp": now, "webhook-signature": `v1,old v1,${signature}` };
  return new Request("http://receiver/", { method: "POST", body, headers: { ...genuine, ...headers } });
}

test("repeats and test events are accepted and not handled", async () => {
  let count = 0;
  const handler = new WebhookHandler({ secrets: ["whsec_b3RoZXI=", secret], removed: () => void count++ });
  assert.equal((await handler.fetch(signed({ "X-Service-Test": "true" }))).status, 204);
  assert.equal(count, 0);
  for (let i = 0; i < 2; i++) assert.equal((await handler.fetch(signed())).status, 204);
  assert.equal(count, 1);
  const recent = new RecentDeliveries(2);
  for (const id of ["1", "2", "3"]) recent.add(id);
  assert.deepEqual(["1", "2", "3"].map((id) => recent.has(id)), [false, true, true]);
});

test("forgeries are refused", async () => {
  const handler = new WebhookHandler({ secrets: [secret], removed: () => assert.fail("a forged event was handled") });
  for (const forged of [
    signed({ "webhook-signature": "" }),
    signed({ "webhook-signature": "v1,c2VjcmV0" }),
    signed({ "webhook-id": "2" }),
    signed({ "webhook-timestamp": "1500000000" }),
    signed({ "webhook-timestamp": "now" }),
  ]) {
    assert.equal((await handler.fetch(forged)).status, 401);
  }
  const long = new Request("http://receiver/", { method: "POST", body: "x".repeat((1 << 20) + 1) });
  assert.equal((await handler.fetch(long)).status, 400);
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((r) => (resolve = r));
  return { promise, resolve };
}
