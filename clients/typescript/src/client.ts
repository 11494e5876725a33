import { syncAssignments, type Checkpoint } from "./sync.js";
import { Transport, nextPage, type Call } from "./transport.js";
import type {
  Assignment,
  AssignmentCreated,
  AssignmentInput,
  AssignmentStatus,
  BulkResult,
  BulkResults,
  Course,
  CourseList,
  Employee,
  EmployeeUpdate,
  EmployeeUpdateResult,
  EmployeeWithAssignments,
  Progress,
  ProvisionInput,
  Provisioned,
  Results,
  StatusCategory,
  Token,
} from "./types.js";

/** ClientOptions change how a Client calls. */
export interface ClientOptions {
  /** How often a failed call is repeated; 4 by default. */
  retries?: number;
  /**
   * The longest pause in milliseconds before the first repetition; 250 by default. It doubles each time, up to 30
   * seconds, and a random part of up to half is left out. If the server's Retry-After is longer, it applies.
   */
  pause?: number;
  /** How many milliseconds one attempt may take, a download included; 60,000 by default. */
  timeout?: number;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
}

/** EmployeeFilter selects employees; absent fields select all. */
export interface EmployeeFilter {
  externalId?: string;
  email?: string;
  tag?: string;
}

/** AssignmentFilter selects assignments; absent fields select all. */
export interface AssignmentFilter {
  employeeExternalId?: string;
  status?: AssignmentStatus | StatusCategory;
  courseId?: number;
  updatedSince?: Date;
}

/** CallOptions end a call early. */
interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** pageSize and bulkSize are the most records that the server lists and accepts at a time. */
const pageSize = "500";
const bulkSize = 500;

/**
 * Client calls the API with one token.
 *
 * Calls are repeated after a lost connection, a 429 or a 5xx. This is safe, because employees and assignments are
 * identified by the caller's own external ids.
 */
export class Client {
  readonly #transport: Transport;

  /** The address is such as https://learning.example, without /api/v1. */
  constructor(address: string, token: string, options: ClientOptions = {}) {
    if (!/^https?:\/\/[^/]/.test(address)) throw new TypeError(`the address "${address}" is not an http or https URL`);
    if (!token) throw new TypeError("the token is empty: create one in the cabinet under Integrations, Tokens");
    const { retries = 4, pause = 250, timeout = 60_000, fetch = globalThis.fetch } = options;
    this.#transport = new Transport({ base: address.replace(/\/+$/, ""), token, retries, pause, timeout, fetch });
  }

  /** token returns the client's token: its name, company and scopes. */
  token(options?: CallOptions): Promise<Token> {
    return this.#data({ path: ["token"], ...options });
  }

  /** courses returns every course that the company can assign. */
  async courses(options?: CallOptions): Promise<Course[]> {
    return (await this.#data<CourseList>({ path: ["courses"], ...options })).items;
  }

  /** employees returns all employees that match. The pages are read as the loop goes on. */
  employees(filter: EmployeeFilter = {}, options?: CallOptions): AsyncGenerator<Employee, void, undefined> {
    return this.#walk({ path: ["employees"], query: listQuery({ ...filter, limit: pageSize }), ...options });
  }

  /** employee returns an employee with all assignments. */
  employee(externalId: string, options?: CallOptions): Promise<EmployeeWithAssignments> {
    return this.#data({ path: ["employees", externalId], ...options });
  }

  /** provision creates an employee, or links the external id to the one with this address who has none. */
  provision(input: ProvisionInput, options?: CallOptions): Promise<Provisioned> {
    return this.#data({ method: "POST", path: ["employees", "provision"], body: input, ...options });
  }

  /** updateEmployee changes an employee. active: false offboards, active: true brings back. */
  updateEmployee(externalId: string, change: EmployeeUpdate, options?: CallOptions): Promise<EmployeeUpdateResult> {
    return this.#data({ method: "PATCH", path: ["employees", externalId], body: change, ...options });
  }

  /** deleteEmployee erases an employee. Results stay without the person. */
  async deleteEmployee(externalId: string, options?: CallOptions): Promise<void> {
    await this.#data({ method: "DELETE", path: ["employees", externalId], ...options });
  }

  /** assignments returns all assignments that match. The pages are read as the loop goes on. */
  assignments(filter: AssignmentFilter = {}, options?: CallOptions): AsyncGenerator<Assignment, void, undefined> {
    return this.#walk({ path: ["assignments"], query: listQuery({ ...filter, limit: pageSize }), ...options });
  }

  /** assignment returns an assignment by the id that coursebridge gave it. */
  assignment(id: number, options?: CallOptions): Promise<Assignment> {
    return this.#data({ path: ["assignments", String(id)], ...options });
  }

  /** assignmentByExternalId returns an assignment by the caller's own id. */
  assignmentByExternalId(externalId: string, options?: CallOptions): Promise<Assignment> {
    return this.#data({ path: ["assignments", "by-external-id", externalId], ...options });
  }

  /** progress returns how far an assignment has come. */
  progress(id: number, options?: CallOptions): Promise<Progress> {
    return this.#data({ path: ["assignments", String(id), "progress"], ...options });
  }

  /** progressByExternalId is progress by the caller's own id. */
  progressByExternalId(externalId: string, options?: CallOptions): Promise<Progress> {
    return this.#data({ path: ["assignments", "by-external-id", externalId, "progress"], ...options });
  }

  /** results returns the outcome of the latest ended attempt of an assignment. */
  results(id: number, options?: CallOptions): Promise<Results> {
    return this.#data({ path: ["assignments", String(id), "results"], ...options });
  }

  /** resultsByExternalId is results by the caller's own id. */
  resultsByExternalId(externalId: string, options?: CallOptions): Promise<Results> {
    return this.#data({ path: ["assignments", "by-external-id", externalId, "results"], ...options });
  }

  /** assign creates an assignment, or returns the one that has the external id already. */
  assign(input: AssignmentInput, options?: CallOptions): Promise<AssignmentCreated> {
    return this.#data({ method: "POST", path: ["assignments"], body: input, ...options });
  }

  /**
   * assignMany creates any number of assignments, 500 in a request. It yields one result per item, in the order of the
   * items: an item that fails has ok false and does not affect the others. After an error, calling it again with the
   * same items is safe.
   */
  async *assignMany(items: Iterable<AssignmentInput>, options?: CallOptions): AsyncGenerator<BulkResult, void, undefined> {
    let first = 0;
    for (const part of chunks(items, bulkSize)) {
      const body = { items: part };
      const { results } = await this.#data<BulkResults>({ method: "POST", path: ["assignments", "bulk"], body, ...options });
      for (const result of results) yield { ...result, index: result.index + first };
      first += part.length;
    }
  }

  /** revoke takes an assignment back. */
  async revoke(id: number, options?: CallOptions): Promise<void> {
    await this.#data({ method: "DELETE", path: ["assignments", String(id)], ...options });
  }

  /** reportAssignments returns the report of assignments. Reading the stream fails if the download breaks off. */
  reportAssignments(format: "csv" | "xlsx", filter: AssignmentFilter = {}, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#download({ path: ["reports", `assignments.${format}`], query: listQuery({ ...filter }), ...options });
  }

  /** reportEmployees returns the report of employees with a tag, or of all. */
  reportEmployees(format: "csv" | "xlsx", filter: { tag?: string } = {}, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#download({ path: ["reports", `employees.${format}`], query: listQuery({ ...filter }), ...options });
  }

  /**
   * syncAssignments passes every assignment that was created or changed since the last call to handle, and remembers
   * in the checkpoint how far it came. It never misses a change, and may pass an assignment twice. If it is
   * interrupted, the next call goes on with the page at which this one stopped.
   *
   * Revoked assignments are not passed: the event employee.removed and the caller's own revocations report them.
   */
  syncAssignments(at: Checkpoint, handle: (assignment: Assignment) => void | Promise<void>, options?: CallOptions): Promise<void> {
    return syncAssignments(this.#transport, { at, handle, signal: options?.signal });
  }

  async #data<T>(call: Call): Promise<T> {
    return (await this.#transport.data<T>(call)).data;
  }

  async *#walk<Item>(call: Call): AsyncGenerator<Item, void, undefined> {
    for (let query = call.query; query; ) {
      const { data, headers } = await this.#transport.data<{ items: Item[] }>({ ...call, query });
      yield* data.items;
      query = nextPage(headers);
    }
  }

  async #download(call: Call): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#transport.send(call);
    if (!body) throw new TypeError("the report has no body");
    return body as ReadableStream<Uint8Array>;
  }
}

/** listQuery returns the fields that are set as a query. */
export function listQuery(fields: Record<string, string | number | Date | undefined>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return query;
}

function* chunks<T>(items: Iterable<T>, size: number): Generator<T[], void, undefined> {
  let part: T[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length === size) {
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
