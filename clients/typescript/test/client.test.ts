import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { CallError, Client, FileCheckpoint, errorCode, type Assignment, type BulkResult } from "../src/index.js";

import { address, client, courseId, inputs, provision, token } from "./program.js";

test("every operation", async () => {
  const who = "a/b ü";
  assert.ok((await client.token()).scopes.includes("b2b_assignment"));
  assert.deepEqual((await client.courses()).map((c) => c.id), [courseId]);
  assert.equal((await provision(who)).status, "created");
  const changed = await client.updateEmployee(who, { name: "Bob", tags: ["warehouse"] });
  assert.ok("name" in changed && changed.name === "Bob");
  const made = await client.assign({ employeeExternalId: who, courseId, externalId: "a 1" });
  assert.equal(made.status, "assigned");
  assert.deepEqual((await client.employee(who)).assignments.map((a) => a.id), [made.id]);
  assert.equal((await client.assignment(made.id)).externalId, "a 1");
  assert.equal((await client.assignmentByExternalId("a 1")).id, made.id);
  assert.equal((await client.progress(made.id)).completionPercent, 0);
  assert.equal((await client.progressByExternalId("a 1")).id, made.id);
  assert.equal((await client.results(made.id)).resultSummary.completionState, "not_started");
  assert.equal((await client.resultsByExternalId("a 1")).score, null);
  const report = await new Response(await client.reportAssignments("csv", { employeeExternalId: who })).text();
  assert.equal(report.trimEnd().split("\r\n").length, 2);
  const workbook = await new Response(await client.reportEmployees("xlsx", { tag: "warehouse" })).arrayBuffer();
  assert.equal(Buffer.from(workbook).subarray(0, 2).toString(), "PK");
  await client.revoke(made.id);
  const left = await client.updateEmployee(who, { active: false });
  assert.ok("status" in left && left.status === "offboarded");
  await client.deleteEmployee(who);
});

test("errors are typed", async () => {
  await assert.rejects(client.employee("nobody"), (error) => {
    assert.ok(error instanceof CallError && error.status === 404 && error.requestId !== "");
    return errorCode(error) === "employee_not_found";
  });
  await assert.rejects(client.provision({ externalId: "a", email: "none", name: "A" }), (error) => {
    assert.ok(error instanceof CallError && error.fields[0]?.field === "email");
    return error.message.startsWith("400 invalid_request: ") && error.message.includes("email");
  });
  await assert.rejects(client.employee(".."), TypeError);
  assert.throws(() => new Client("learning.example", token), /not an http or https URL/);
  assert.throws(() => new Client(address, ""), /create one in the cabinet/);
});

test("iterators read all pages, and a loop may end early", async () => {
  await provision("pages");
  const items = inputs("pages", 1_200);
  items[700]!.courseId = -1;
  const results: BulkResult[] = [];
  for await (const result of client.assignMany(items)) results.push(result);
  assert.equal(results.length, 1_200);
  assert.ok(results[700]!.index === 700 && !results[700]!.ok && results[1_199]!.ok);
  const seen = new Set<number>();
  for await (const assignment of client.assignments({ employeeExternalId: "pages", status: "assigned" })) seen.add(assignment.id);
  assert.equal(seen.size, 1_199);
  for await (const employee of client.employees({ externalId: "pages" })) {
    assert.equal(employee.externalId, "pages");
    break;
  }
});

test("calls are repeated safely", async () => {
  let count = 0;
  const flaky: typeof fetch = async (input, init) => {
    switch (++count % 3) {
      case 0:
        return new Response("busy", { status: 503, headers: { "Retry-After": "0" } });
      case 1:
        await fetch(input, init);
        throw new TypeError("the connection was lost");
    }
    return fetch(input, init);
  };
  const c = new Client(address, token, { pause: 1, fetch: flaky });
  for (let i = 0; i < 6; i++) {
    const id = `flaky-${i}`;
    await c.provision({ externalId: id, email: `${id}@acme.example`, name: id });
    await c.assign({ employeeExternalId: id, courseId, externalId: id });
    await c.deleteEmployee(id);
  }
  await assert.rejects(c.token({ signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("Retry-After is respected, and patience ends", async () => {
  const starts: number[] = [];
  const limited: typeof fetch = () => {
    starts.push(performance.now());
    return Promise.resolve(Response.json({ result: "error", message: "Slow down.", code: "rate_limited" }, { status: 429, headers: { "Retry-After": "1" } }));
  };
  await assert.rejects(new Client(address, token, { pause: 1, retries: 1, fetch: limited }).token(), { code: "rate_limited" });
  assert.equal(starts.length, 2);
  assert.ok(starts[1]! - starts[0]! > 990, "the pause is shorter than the server asked for");
});

test("an interrupted sync resumes", async () => {
  await provision("sync");
  const wanted = new Set<number>();
  for await (const result of client.assignMany(inputs("sync", 1_100))) wanted.add(result.ok ? result.assignmentId : -1);
  const folder = await mkdtemp(join(tmpdir(), "coursebridge-"));
  const at = new FileCheckpoint(join(folder, "sync.json"));
  const copied = new Map<number, Assignment>();
  let passed = 0;
  const handle = (a: Assignment) => {
    if (++passed === 600) throw new Error("stop");
    copied.set(a.id, a);
  };
  await assert.rejects(client.syncAssignments(at, handle), /stop/);
  const resumed = passed;
  await client.syncAssignments(at, handle);
  assert.ok([...wanted].every((id) => copied.has(id)), "an assignment was missed");
  assert.ok((await at.load()).since, "the checkpoint has no watermark");
  assert.ok(passed - resumed < copied.size, "the sync began again");
  const late = await client.assign({ employeeExternalId: "sync", courseId, externalId: "late" });
  await client.syncAssignments(at, handle);
  assert.ok(copied.has(late.id), "the second sync missed a change");
  await rm(folder, { recursive: true });
});
