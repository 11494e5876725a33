import type { ErrorCode, ErrorResponse, FieldError } from "./types.js";

/**
 * CallError is an answer of the server that is not a success. Decide by its code:
 *
 *     if (errorCode(error) === "employee_not_found") { … }
 */
export class CallError extends Error {
  override readonly name = "CallError";
  /** The HTTP status. */
  readonly status: number;
  /** The code of the error, empty if a proxy answered instead of coursebridge. */
  readonly code: ErrorCode | "";
  /** The fields at fault, where the error is about values. */
  readonly fields: FieldError[];
  /** Find the call by it in the cabinet's log of requests. */
  readonly requestId: string;

  constructor(response: Response, body: ErrorResponse | undefined) {
    super(describe(response, body));
    this.status = response.status;
    this.code = body?.code ?? "";
    this.fields = body?.fields ?? [];
    this.requestId = response.headers.get("X-Request-Id") ?? "";
  }

  /** Whether the same request may succeed later. */
  get passing(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** errorCode returns the code that the server answered with, or "" for any other error. */
export function errorCode(error: unknown): ErrorCode | "" {
  return error instanceof CallError ? error.code : "";
}

/** readError returns the error of an answer that is not a success. */
export async function readError(response: Response): Promise<CallError> {
  let body: ErrorResponse | undefined;
  try {
    const parsed = (await response.json()) as ErrorResponse;
    body = typeof parsed?.code === "string" && typeof parsed.message === "string" ? parsed : undefined;
  } catch {
    // A proxy answered, or the body was cut off.
  }
  return new CallError(response, body);
}

function describe(response: Response, body: ErrorResponse | undefined): string {
  if (!body) return `${response.status} ${response.statusText}`.trim();
  let text = `${response.status} ${body.code}: ${body.message}`;
  for (const { field, message } of body.fields ?? []) {
    if (!text.includes(`${field}: ${message}`)) text += `; ${field}: ${message}`;
  }
  return text;
}
