import { randomUUID } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";
import { isAbsolute } from "node:path";

import { Session } from "./session.js";
import { type Event, type Reply, reaches, verdicts } from "./words.js";

/** How long one answer may take, in milliseconds. */
export const DEFAULT_TIMEOUT = 10_000;

/** An answer may be as large as an event. */
export const MAX_REPLY_BYTES = 32 * 2 ** 20;

const PROCEDURE = "/floodmark.v1.HookService/Handle";

/** How to reach a daemon. Nothing is needed for a local socket. */
export interface MonitorOptions {
  /** Proves who asks, over https:// only. */
  token?: string;
  /** The authority to believe, as PEM, if it is not a public one. */
  ca?: string;
  /** For one answer, in milliseconds. */
  timeout?: number;
}

/** What a conversation is begun with. */
export interface StartOptions {
  /** Its name, the same across restarts. */
  session?: string;
  /** It began before, perhaps unseen. */
  resume?: boolean;
  /** The folder the agent works in. */
  project?: string;
  /** The owner's home folder. */
  home?: string;
}

/** A daemon, at the full path of its socket or at an https:// URL. */
export class Monitor {
  readonly #options: object;
  readonly #request: typeof http.request;
  readonly #timeout: number;

  constructor(target: string, options: MonitorOptions = {}) {
    this.#timeout = options.timeout ?? DEFAULT_TIMEOUT;
    const headers: Record<string, string> = { "Content-Type": "application/json", "Connect-Protocol-Version": "1" };
    // A connection for each call: none is left over from a daemon that has gone.
    const call = { method: "POST", path: PROCEDURE, agent: false, headers };
    if (isAbsolute(target)) {
      if (options.token) throw new TypeError("a token is for https:// URLs; a local socket knows its caller");
      this.#request = http.request;
      this.#options = { ...call, socketPath: target };
      return;
    }
    const url = safeURL(target);
    if (options.token) headers["Authorization"] = `Bearer ${options.token}`;
    this.#request = https.request;
    const tls = { minVersion: "TLSv1.3", rejectUnauthorized: true, ...(options.ca ? { ca: options.ca } : {}) };
    this.#options = { ...call, ...tls, host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || 443 };
  }

  /** Begins a conversation. It throws unless the daemon has taken that in. */
  async start(agent: string, options: StartOptions = {}): Promise<Session> {
    const session = new Session(this, agent, options.session ?? randomUUID());
    await session.begin(options);
    return session;
  }

  /**
   * Tells the daemon one event and returns its reply, which may well refuse.
   * It throws if there is no reply that can be understood.
   */
  handle(event: Event): Promise<Reply> {
    const body = new TextEncoder().encode(JSON.stringify(event));
    return new Promise((resolve, reject) => {
      const fail = (err: Error) => {
        clearTimeout(timer);
        request.destroy();
        reject(err);
      };
      const request = this.#request(this.#options, (response) => {
        const chunks: Uint8Array[] = [];
        let size = 0;
        response.on("error", fail);
        response.on("aborted", () => fail(new Error("the answer is not complete")));
        response.on("data", (chunk) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MAX_REPLY_BYTES) fail(new Error("the answer is too large"));
        });
        response.on("end", () => {
          try {
            if (response.statusCode !== 200) throw new Error(`the monitor answered ${response.statusCode}`);
            if (!response.complete) throw new Error("the answer is not complete");
            const reply = read(chunks, size);
            clearTimeout(timer);
            resolve(reply);
          } catch (err) {
            fail(err as Error);
          }
        });
      });
      const timer = setTimeout(() => fail(new Error("the monitor did not answer in time")), this.#timeout);
      request.on("error", fail);
      request.end(body);
    });
  }
}

function safeURL(target: string): URL {
  try {
    const url = new URL(target);
    const plain = !url.username && !url.password && !url.search && !url.hash && url.pathname === "/";
    if (url.protocol === "https:" && url.hostname && plain) return url;
  } catch {
    // It is no URL at all.
  }
  throw new TypeError("want the full path of a socket, or a URL such as https://floodmark.firm.example:7443");
}

/** A reply, if it is one. */
function read(chunks: Uint8Array[], size: number): Reply {
  const data = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    data.set(chunk, at);
    at += chunk.length;
  }
  const text = new TextDecoder("utf-8", { fatal: true }).decode(data);
  const reply = fields(JSON.parse(text), {
    ...{ decision: isObject, calls: Array.isArray, blockTurn: isBoolean, consumed: isBoolean },
    ...{ line: isText, text: isText, footer: isText, ticket: isText, notice: isText, command: isText },
  });
  const calls = ((reply["calls"] ?? []) as unknown[]).map(decided);
  return { ...reply, decision: decided(reply["decision"] ?? {}), ...(calls.length ? { calls } : {}) } as Reply;
}

/** A decision, if it is one. */
function decided(v: unknown): Record<string, unknown> {
  const decision = fields(v, { verdict: isText, reach: isText, verifiers: Array.isArray, reasons: Array.isArray, remedy: isObject });
  if (!verdicts.includes((decision["verdict"] ?? "restrict") as never)) {
    throw new Error("the answer has a verdict nobody knows");
  }
  if (!reaches.includes((decision["reach"] ?? "free") as never)) {
    throw new Error("the answer has a reach nobody knows");
  }
  for (const reason of (decision["reasons"] ?? []) as unknown[]) fields(reason, { text: isText });
  decision["remedy"] = fields(decision["remedy"] ?? {}, { agent: isText });
  return decision;
}

/** An object without the fields that are null; the others are what they must be. */
function fields(v: unknown, kinds: Record<string, (v: unknown) => boolean>): Record<string, unknown> {
  if (!isObject(v)) throw new Error("the answer is no reply");
  const kept = Object.fromEntries(Object.entries(v).filter(([, value]) => value !== null));
  for (const [name, is] of Object.entries(kinds)) {
    if (name in kept && !is(kept[name])) throw new Error(`the answer's ${name} is not what it must be`);
  }
  return kept;
}

const isText = (v: unknown) => typeof v === "string";
const isBoolean = (v: unknown) => typeof v === "boolean";

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}
