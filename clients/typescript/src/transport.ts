import { setTimeout as sleep } from "node:timers/promises";

import { CallError, readError } from "./error.js";

/** Call is one call before it is sent. The segments of the path are escaped. */
export interface Call {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  path: string[];
  query?: URLSearchParams;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** longestPause bounds the pause between two attempts, unless the server asks for more. */
const longestPause = 30_000;

/** Transport sends requests with one token and repeats those that may succeed later. */
export class Transport {
  readonly #base: string;
  readonly #token: string;
  readonly #fetch: typeof fetch;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #pause: number;

  constructor(settings: { base: string; token: string; fetch: typeof fetch; timeout: number; retries: number; pause: number }) {
    this.#base = settings.base;
    this.#token = settings.token;
    this.#fetch = settings.fetch;
    this.#timeout = settings.timeout;
    this.#retries = settings.retries;
    this.#pause = settings.pause;
  }

  /** data sends a call and returns the data of the answer with its headers. */
  async data<T>(call: Call): Promise<{ data: T; headers: Headers }> {
    const response = await this.send(call);
    const { data } = (await response.json()) as { data: T };
    return { data, headers: response.headers };
  }

  /** send sends a call until it succeeds, fails for good or has been repeated often enough. */
  async send(call: Call): Promise<Response> {
    const url = this.#url(call);
    let mayBeDone = false; // whether an attempt may have been carried out although it failed
    for (let attempt = 0; ; attempt++) {
      let failure: unknown;
      let wait = 0;
      try {
        const response = await this.#try(url, call);
        if (response.ok) return response;
        wait = retryAfter(response.headers);
        failure = await readError(response);
      } catch (error) {
        call.signal?.throwIfAborted();
        failure = error;
      }
      if (failure instanceof CallError && !failure.passing) {
        // An earlier attempt deleted the record, and only its answer was lost.
        if (mayBeDone && call.method === "DELETE" && failure.status === 404) return Response.json({ data: undefined });
        throw failure;
      }
      // A lost answer and a 5xx leave that open. A 429 does not.
      mayBeDone ||= !(failure instanceof CallError) || failure.status >= 500;
      if (attempt === this.#retries) throw failure;
      await sleep(Math.max(wait, this.#backoff(attempt)), undefined, call.signal ? { signal: call.signal } : {});
    }
  }

  #url({ path, query }: Call): string {
    for (const segment of path) {
      if (segment === "" || segment === "." || segment === "..") throw new TypeError(`"${segment}" cannot be an external id`);
    }
    const url = `${this.#base}/api/v1/${path.map(encodeURIComponent).join("/")}`;
    return query?.size ? `${url}?${query}` : url;
  }

  #try(url: string, { method = "GET", body, signal }: Call): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#token}`, "User-Agent": "coursebridge-typescript" };
    const timeout = AbortSignal.timeout(this.#timeout);
    const init: RequestInit = { method, headers, redirect: "error", signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    return this.#fetch(url, init);
  }

  #backoff(attempt: number): number {
    const pause = Math.min(this.#pause * 2 ** attempt, longestPause);
    return pause / 2 + (Math.random() * pause) / 2;
  }
}

/** retryAfter returns how many milliseconds the server asks to wait. It always answers in seconds. */
function retryAfter(headers: Headers): number {
  const seconds = Number(headers.get("Retry-After") ?? 0);
  return seconds > 0 && Number.isFinite(seconds) ? seconds * 1000 : 0;
}

/**
 * nextPage returns the query of the page that the Link header names, or undefined after the last page. Only the query
 * is followed, so the token is never sent elsewhere.
 */
export function nextPage(headers: Headers): URLSearchParams | undefined {
  const target = /<([^>]*)>[^,]*rel="next"/.exec(headers.get("Link") ?? "")?.[1];
  return target === undefined ? undefined : new URL(target, "http://relative").searchParams;
}
