import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Assignment, Employee, EmployeeRemoved, Event } from "./types.js";

/** Delivery is what the headers of a webhook request say about it. */
export interface Delivery {
  /** The same for every attempt and redelivery of an event. */
  id: string;
  /** Grows with every event of the company. */
  sequence: number;
  attempt: number;
}

/** EventOf is the kind of event that carries the data. */
type EventOf<Data> = Extract<Event, { data: Data }>;

/** HandledDeliveries remembers which deliveries have been handled. */
export interface HandledDeliveries {
  has(deliveryId: string): boolean | Promise<boolean>;
  add(deliveryId: string): void | Promise<void>;
}

/** WebhookOptions are what a WebhookHandler needs and what it calls. */
export interface WebhookOptions {
  /** The signing secrets of the webhook, with whsec_. Two are needed only while one of them is being replaced. */
  secrets: string[];
  /** The default keeps the last 10,000 deliveries in memory. */
  handled?: HandledDeliveries;
  /** Called for assignment.created, .completed, .failed and .overdue. */
  assignment?: (event: EventOf<Assignment>, delivery: Delivery) => void | Promise<void>;
  /** Called for employee.joined. */
  joined?: (event: EventOf<Employee>, delivery: Delivery) => void | Promise<void>;
  /** Called for employee.removed. */
  removed?: (event: EventOf<EmployeeRemoved>, delivery: Delivery) => void | Promise<void>;
  /** Called with the error before a 401 or a 500 is answered. */
  error?: (error: unknown, delivery: Delivery) => void;
}

/** longestWebhook bounds the body of a webhook request, in bytes. */
const longestWebhook = 1 << 20;
/** signatureAge is how far the signed time may be from now, in seconds. */
const signatureAge = 300;

/**
 * WebhookHandler receives webhooks. It verifies the signature, ignores repeats and test events, and calls the function
 * for the kind of event. It answers 204 if the function returns, and 500 if it throws, so that the event is sent again.
 * Events without a function are accepted and ignored.
 */
export class WebhookHandler {
  readonly #options: WebhookOptions;
  readonly #handled: HandledDeliveries;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#handled = options.handled ?? new RecentDeliveries();
  }

  /** fetch answers a request of the fetch API, for frameworks that use it. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const { status, text } = await this.#answer(new Headers(request.headers), request.body ?? []);
    return new Response(status === 204 ? null : text, { status });
  };

  /** node answers a request of node:http, and is a middleware of frameworks built on it. */
  readonly node = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const { status, text } = await this.#answer(headers, request);
    response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" }).end(text);
  };

  async #answer(headers: Headers, stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<{ status: number; text: string }> {
    const body = await readBody(stream);
    if (!body) return { status: 400, text: "The body could not be read." };
    const delivery: Delivery = {
      id: headers.get("webhook-id") ?? "", // signed, and the same as X-Service-Delivery
      sequence: Number(headers.get("X-Service-Sequence")),
      attempt: Number(headers.get("X-Service-Attempt")),
    };
    try {
      verifyWebhook(headers, body, this.#options.secrets);
    } catch (error) {
      this.#options.error?.(error, delivery);
      return { status: 401, text: error instanceof SignatureError ? error.message : "The signature could not be checked." };
    }
    try {
      if (headers.get("X-Service-Test") !== "true") await this.#handle(body, delivery);
    } catch (error) {
      this.#options.error?.(error, delivery);
      return { status: 500, text: "The event could not be handled." };
    }
    return { status: 204, text: "" };
  }

  async #handle(body: Uint8Array, delivery: Delivery): Promise<void> {
    if (await this.#handled.has(delivery.id)) return;
    await this.#dispatch(JSON.parse(new TextDecoder().decode(body)) as Event, delivery);
    await this.#handled.add(delivery.id);
  }

  #dispatch(event: Event, delivery: Delivery): void | Promise<void> {
    switch (event.event) {
      case "employee.joined":
        return this.#options.joined?.(event, delivery);
      case "employee.removed":
        return this.#options.removed?.(event, delivery);
      case "assignment.created":
      case "assignment.completed":
      case "assignment.failed":
      case "assignment.overdue":
        return this.#options.assignment?.(event, delivery);
    }
  }
}

/** readBody returns the whole body, or undefined if it is too long or breaks off. */
async function readBody(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of stream) {
      length += part.length;
      if (length > longestWebhook) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(parts);
}

/** SignatureError explains why a webhook request is not genuine. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/**
 * verifyWebhook throws a SignatureError unless the body was signed with one of the secrets within five minutes of now.
 * It checks the Standard Webhooks signature, which also signs the time. The body must be the bytes that arrived.
 */
export function verifyWebhook(headers: Headers, body: Uint8Array, secrets: string[], now: Date = new Date()): void {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  if (!/^\d{1,12}$/.test(timestamp)) throw new SignatureError("the header webhook-timestamp is missing or not a number");
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > signatureAge) {
    throw new SignatureError("the signature is more than five minutes old, or the clock is wrong");
  }
  const signatures = (headers.get("webhook-signature") ?? "").split(" ").filter((s) => s.startsWith("v1,"));
  if (secrets.length === 0) throw new TypeError("no signing secret is set: copy it from the webhook's page in the cabinet");
  for (const secret of secrets) {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    if (key.length === 0) throw new TypeError("a signing secret is not whsec_ followed by base64: copy it again from the webhook's page in the cabinet");
    const want = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
    for (const signature of signatures) {
      const got = Buffer.from(signature.slice("v1,".length), "base64");
      if (got.length === want.length && timingSafeEqual(got, want)) return;
    }
  }
  throw new SignatureError("the signature does not match");
}

/** RecentDeliveries is the default HandledDeliveries. It forgets the oldest one when it is full. */
export class RecentDeliveries implements HandledDeliveries {
  readonly #ids = new Set<string>();

  constructor(readonly capacity = 10_000) {}

  has(deliveryId: string): boolean {
    return this.#ids.has(deliveryId);
  }

  add(deliveryId: string): void {
    this.#ids.add(deliveryId);
    if (this.#ids.size > this.capacity) this.#ids.delete(this.#ids.values().next().value as string);
  }
}
