// What generated types must allow; the compiler is the test.
import type { components } from "./out/openapi-typescript.js";
import type { AssignmentInput, BulkResult, ErrorResponse, Event } from "./out/hey-api/index.js";

type Result = components["schemas"]["BulkResult"];

// isRequired and deadline may be left out.
export const input: AssignmentInput = { employeeExternalId: "HR-1", courseId: 1, externalId: "A-1" };

// ok narrows a result to one of its two forms, in both generators.
export const assigned = (result: Result): number => (result.ok ? result.assignmentId : result.message.length);
export const assignedToo = (result: BulkResult): number => (result.ok ? result.assignmentId : result.message.length);

// A code that a later version adds is still a code.
export const unknown: ErrorResponse["code"] = "a_code_of_tomorrow";

// event narrows what a webhook sends.
export const who = (event: Event): string =>
  event.event === "employee.removed" ? event.data.reason : String(event.data.id);
