// Calls every operation of the running program with the client that @hey-api/openapi-ts generates.
import assert from "node:assert/strict";

import { client } from "./out/hey-api/client.gen.js";
import * as sdk from "./out/hey-api/sdk.gen.js";

const courseId = Number(process.env.COURSEBRIDGE_COURSE);
const who = "ts/walk ü";
const task = "ts walk";
const called = new Set<string>();

/** call notes that an operation was called and returns its answer, which must be a success. */
async function call<Data, Failure>(operation: keyof typeof sdk, answer: Promise<{ data?: Data; error?: Failure }>): Promise<NonNullable<Data>> {
  const { data, error } = await answer;
  assert.ok(data && !error, `${operation}: ${JSON.stringify(error)}`);
  called.add(operation);
  return data;
}

async function walk(): Promise<void> {
  client.setConfig({ baseUrl: `${process.env.COURSEBRIDGE_URL}/api/v1`, auth: process.env.COURSEBRIDGE_TOKEN });
  const externalId = who;

  assert.ok((await call("getToken", sdk.getToken())).data.scopes.includes("b2b_read"));
  assert.equal((await call("listCourses", sdk.listCourses())).data.items[0]?.id, courseId);
  const person = { externalId, email: "ts@acme.example", name: "Ts" };
  assert.equal((await call("provisionEmployee", sdk.provisionEmployee({ body: person }))).data.status, "created");
  const changed = await call("updateEmployee", sdk.updateEmployee({ path: { externalId }, body: { name: "Tess" } }));
  assert.ok("name" in changed.data && changed.data.name === "Tess");
  assert.equal((await call("listEmployees", sdk.listEmployees({ query: { externalId } }))).data.items.length, 1);

  const input = { employeeExternalId: who, courseId, externalId: task };
  const { id } = (await call("createAssignment", sdk.createAssignment({ body: input }))).data;
  const items = [input, { ...input, courseId: 999_999 }];
  const [done, failed] = (await call("createAssignmentsBulk", sdk.createAssignmentsBulk({ body: { items } }))).data.results;
  assert.ok(done?.ok && done.assignmentId === id);
  assert.ok(failed && !failed.ok && failed.code === "course_not_found");
  assert.equal((await call("listAssignments", sdk.listAssignments({ query: { employeeExternalId: who } }))).data.items.length, 1);
  assert.equal((await call("getEmployee", sdk.getEmployee({ path: { externalId } }))).data.assignments.length, 1);

  const byId = { path: { id } };
  const byExternalId = { path: { externalId: task } };
  assert.equal((await call("getAssignment", sdk.getAssignment(byId))).data.externalId, task);
  assert.equal((await call("getAssignmentProgress", sdk.getAssignmentProgress(byId))).data.completionPercent, 0);
  assert.equal((await call("getAssignmentResults", sdk.getAssignmentResults(byId))).data.score, null);
  assert.equal((await call("getAssignmentByExternalId", sdk.getAssignmentByExternalId(byExternalId))).data.id, id);
  await call("getAssignmentProgressByExternalId", sdk.getAssignmentProgressByExternalId(byExternalId));
  await call("getAssignmentResultsByExternalId", sdk.getAssignmentResultsByExternalId(byExternalId));

  assert.ok((await call("reportAssignmentsCsv", sdk.reportAssignmentsCsv())).startsWith("id,externalId,"));
  assert.ok((await call("reportAssignmentsXlsx", sdk.reportAssignmentsXlsx({ parseAs: "blob" }))).size > 1000);
  assert.ok((await call("reportEmployeesCsv", sdk.reportEmployeesCsv())).startsWith("id,externalId,"));
  assert.ok((await call("reportEmployeesXlsx", sdk.reportEmployeesXlsx({ parseAs: "blob" }))).size > 1000);

  assert.ok((await call("revokeAssignment", sdk.revokeAssignment(byId))).data.revoked);
  await call("deleteEmployee", sdk.deleteEmployee({ path: { externalId } }));
  const gone = await sdk.getEmployee({ path: { externalId } });
  assert.equal(gone.error?.code, "employee_not_found");

  for (const operation of Object.keys(sdk)) assert.ok(called.has(operation), `${operation} was not called`);
  console.log(`@hey-api/openapi-ts: ${called.size} operations`);
}

void walk();
