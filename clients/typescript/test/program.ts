// What the tests share: the running program that go test ./test/clients starts, and the client that calls it.
import assert from "node:assert/strict";

import { Client, type AssignmentInput } from "../src/index.js";

function variable(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run go test ./test/clients`);
  return value;
}

export const address = variable("COURSEBRIDGE_URL");
export const token = variable("COURSEBRIDGE_TOKEN");
export const courseId = Number(variable("COURSEBRIDGE_COURSE"));
export const client = new Client(address, token, { pause: 1 });

/** addWebhook subscribes an address to the company's events and returns the signing secret. */
export async function addWebhook(url: string): Promise<string> {
  const response = await fetch(variable("WEBHOOK_CONTROL"), { method: "POST", body: url });
  assert.equal(response.status, 200);
  return response.text();
}

export function provision(externalId: string) {
  const email = `${Buffer.from(externalId).toString("hex")}@acme.example`;
  return client.provision({ externalId, email, name: `Ann ${externalId}` });
}

export function inputs(employeeExternalId: string, count: number): AssignmentInput[] {
  return Array.from({ length: count }, (_, i) => ({ employeeExternalId, courseId, externalId: `${employeeExternalId}-${i}` }));
}
