import { randomUUID } from "node:crypto";

import type { Monitor, StartOptions } from "./monitor.js";
import { allows, type Call, type Content, Denied, denied, type Event, NO_ANSWER, type Origin, type Reply, Withheld } from "./words.js";

/** What becomes of a message. */
export interface Heard {
  /** It was a command to the monitor: the model must not see it. */
  consumed: boolean;
  /** Answers it, to the owner only. */
  notice: string;
}

/** What a message carries besides its text. */
export interface SaidOptions {
  /** The whole text was typed, and its pastes are in parts. Else a long text counts as pasted. */
  typed?: boolean;
  /** Quotes, attachments, pastes. */
  parts?: Content[];
  /** Who wrote it. Without one it was the owner, where nobody else can write. */
  origin?: Origin;
}

/** One conversation of one agent. */
export class Session {
  /** @internal */
  constructor(
    private readonly monitor: Pick<Monitor, "handle">,
    private readonly agent: string,
    readonly id: string,
  ) {}

  /** @internal */
  async begin(o: StartOptions): Promise<void> {
    await this.ask({ point: "session_start", cause: o.resume ? "resume" : "startup", project: o.project, home: o.home });
  }

  /** What somebody wrote. If it throws, the message must not be passed on. */
  async said(text: string, options: SaidOptions = {}): Promise<Heard> {
    const { typed, parts } = options;
    const origin = options.origin ?? { kind: "sender", name: this.agent, sender: "owner", isOwner: true };
    const reply = await this.ask({ point: "message_received", origin, text, typed, parts });
    return { consumed: reply.consumed === true, notice: reply.notice ?? "" };
  }

  /**
   * Wraps a tool: each call is decided, then made, then its result is taken in.
   * What is judged is the JSON of the arguments, and the tool gets what that
   * JSON says. It throws Denied if the tool did not run, Withheld if its result
   * must not be used, and else what the tool throws.
   */
  tool<A extends object, R>(name: string, run: (args: A) => R | Promise<R>, server = ""): (args: A) => Promise<R> {
    return (args) => this.run({ server, name, args }, run);
  }

  /** One call of any tool. */
  async run<A extends object, R>(call: Call & { args?: A }, run: (args: A) => R | Promise<R>): Promise<R> {
    const { judged, args } = copy(call);
    await this.ask({ point: "before_tool_call", call: judged });
    let result: R;
    try {
      result = await run(args);
    } catch (err) {
      await this.took(judged, err instanceof Error ? err.message : String(err), true);
      throw err;
    }
    await this.took(judged, result);
    return result;
  }

  /** An answer as it may go out. An empty audience is for anybody's eyes. If it throws, nothing may go out. */
  async emit(text: string, to: "owner" | "" = "owner"): Promise<string> {
    const reply = await this.ask({ point: "before_response_emit", text, audience: to });
    const out = reply.text || text;
    return reply.footer ? `${out}\n\n(${reply.footer})` : out;
  }

  /** The conversation is over for now. */
  async end(): Promise<void> {
    await this.ask({ point: "session_end" });
  }

  private async took(call: Call, gave: unknown, error = false): Promise<void> {
    try {
      const text = typeof gave === "string" ? gave : (JSON.stringify(gave) ?? "");
      await this.ask({ point: "after_tool_call", call, result: error ? { text, error } : { text } });
    } catch {
      throw new Withheld(call.name); // without what it returned
    }
  }

  /** Asks about one event. Only an answer that allows it does not throw. */
  private async ask(about: { point: string; [field: string]: unknown }): Promise<Reply> {
    const event: Event = { ...about, agent: this.agent, session: this.id };
    for (const [field, v] of Object.entries(event)) {
      if (v === "" || v === false || v === undefined || (Array.isArray(v) && v.length === 0)) delete event[field];
    }
    let refusal = new Denied(NO_ANSWER);
    try {
      const reply = await this.monitor.handle(event);
      if (allows(reply)) return reply;
      refusal = denied(reply);
    } catch (err) {
      refusal.cause = err;
    }
    throw refusal;
  }
}

/** The call as it is judged, and the arguments a tool gets: whatever happens to the caller's, they say the same. */
function copy<A extends object>(call: Call & { args?: A }): { judged: Call; args: A } {
  let text: string | undefined;
  try {
    text = JSON.stringify(call.args ?? {});
  } catch {
    // Said below.
  }
  if (text === undefined) throw new Denied(`${call.name} was not called: its arguments cannot be written as JSON.`);
  const judged: Call = { id: call.id || randomUUID(), name: call.name, args: JSON.parse(text) as object };
  if (call.server) judged.server = call.server;
  return { judged, args: JSON.parse(text) as A };
}
