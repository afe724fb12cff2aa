// Floodmark for pi: hands pi's events to the Floodmark daemon and does what it
// answers. There is no judgement in here. Whatever goes wrong is a no: pi runs
// no tool, shows no result and passes on no message that the daemon has not
// said yes to.
//
//   pi -e floodmark.ts            or a copy in ~/.pi/agent/extensions/

import crypto from "node:crypto";
import net from "node:net";
import path from "node:path";

const AGENT = "pi"; // it would wait for ever, so we do not

// The next lines are those of ../shim/exchange.ts.
// SOCKET is where the daemon listens; empty: where the variables say.
const SOCKET = "";
const VERSION = 1;
const MAX_REQUEST = 2 ** 24 - 1; // the first byte of a frame's length is zero
const MAX_RESPONSE = 2 ** 20;
const LAST_WORDS_MS = 2_000; // at the end nothing depends on the answer
const PERSON_MS = 29 * 60_000; // what a person may take to answer

const NO_ANSWER =
  "floodmark: the monitor did not answer, so nothing is allowed. Ask the person to run «floodmark status», and go on without this.";

const because = (err: unknown) => `${NO_ANSWER} (${err instanceof Error ? err.message : err})`;

// socketPath is the same rule as the daemon's.
function socketPath(env: NodeJS.ProcessEnv): string {
  const absolute = (v?: string): v is string => !!v && path.isAbsolute(v);
  if (absolute(SOCKET)) return SOCKET;
  if (absolute(env.FLOODMARK_HOOK_SOCKET)) return env.FLOODMARK_HOOK_SOCKET;
  if (env.FLOODMARK_HOOK_SOCKET) throw new Error("FLOODMARK_HOOK_SOCKET is no absolute path"); // or a port
  if (absolute(env.XDG_RUNTIME_DIR)) return path.join(env.XDG_RUNTIME_DIR, "floodmark", "hook.sock");
  if (absolute(env.XDG_STATE_HOME)) return path.join(env.XDG_STATE_HOME, "floodmark", "run", "hook.sock");
  if (absolute(env.HOME)) return path.join(env.HOME, ".local", "state", "floodmark", "run", "hook.sock");
  throw new Error("there is no home folder");
}

// deadline is how long we wait for an answer. What cannot be read is the usual
// time.
function deadline(env: NodeJS.ProcessEnv): number {
  const m = /^(\d{1,5})(ms|s)$/.exec(env.FLOODMARK_HOOK_DEADLINE ?? "");
  const ms = m ? Number(m[1]) * (m[2] === "s" ? 1000 : 1) : 0;
  return ms > 0 && ms <= 600_000 ? ms : 10_000;
}

// person is how long a person may take besides. What shortens the deadline shortens it.
const person = (env: NodeJS.ProcessEnv) => (deadline(env) < deadline({}) ? deadline(env) : PERSON_MS);

// A Window shows a question while a person is waited for. No is all that can be said there:
// whatever runs in this agent could say yes.
type Window = { show(question: string, no: () => void): void; close(): void };

// ask sends one question and returns the daemon's answer. Anything but a whole
// answer in time, with status 0 and an object to do, is an error. With a person's time the
// deadline begins anew each time the daemon says that it still waits for a person.
async function ask(
  event: string,
  raw: object,
  wait = deadline(process.env),
  person = 0,
  signal?: AbortSignal,
  window?: Window,
): Promise<Record<string, unknown>> {
  const env: Record<string, string> = {};
  if (process.env.HOME) env.HOME = process.env.HOME;
  const told = { v: VERSION, agent: AGENT, event, raw, env, deadline_ms: wait, person_ms: person || undefined, shows: window && true };
  const body = Buffer.from(JSON.stringify(told));
  if (body.length > MAX_REQUEST) throw new Error("the message is too large");

  const got = await exchange(framed(body), wait, person, signal, window).finally(() => window?.close());
  const answer = JSON.parse(got.toString("utf8"));
  if (answer?.v !== VERSION || typeof answer.stdout !== "string") throw new Error("the answer is of another version");
  if (answer.exit !== 0) throw new Error(String(answer.stderr).trim() || "it said no");
  const todo = JSON.parse(answer.stdout);
  if (todo === null || typeof todo !== "object") throw new Error("the answer says nothing");
  return todo;
}

function framed(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

// still is a frame that only says that a person is waited for, and perhaps what is asked.
function still(frame: Buffer): { ask?: string } | undefined {
  try {
    const { v, still, ask, ...rest } = JSON.parse(frame.toString("utf8"));
    const only = v === VERSION && still === true && Object.keys(rest).length === 0;
    return only && (ask === undefined || typeof ask === "string") ? { ask } : undefined;
  } catch {
    return undefined;
  }
}

// exchange writes a frame and reads one. The socket stays open for writing
// until then: the daemon would take us for gone.
function exchange(frame: Buffer, wait: number, person: number, signal?: AbortSignal, window?: Window): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(socketPath(process.env));
    const last = performance.now() + person + wait;
    let got: Buffer = Buffer.alloc(0);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", ended);
      socket.destroy();
    };
    const fail = (err: Error) => {
      end();
      reject(err);
    };
    const late = () => fail(new Error("the daemon did not answer in time"));
    const ended = () => fail(new Error("the run was ended"));
    let timer = setTimeout(late, wait);
    signal?.addEventListener("abort", ended);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the daemon closed the connection")));
    socket.on("data", (data: Buffer) => {
      got = Buffer.concat([got, data]);
      while (got.length >= 4) {
        const length = got.readUInt32BE(0);
        if (length > MAX_RESPONSE) return fail(new Error("the answer is too large"));
        if (got.length < 4 + length) return;
        const one = got.subarray(4, 4 + length);
        got = got.subarray(4 + length);
        const waits = person ? still(one) : undefined;
        if (!waits) {
          end();
          return resolve(one);
        }
        if (waits.ask) window?.show(waits.ask, () => socket.write(framed(Buffer.from(JSON.stringify({ v: VERSION, no: true })))));
        clearTimeout(timer);
        timer = setTimeout(late, Math.max(0, Math.min(wait, last - performance.now())));
      }
    });
    socket.write(frame);
  });
}

// lets reports whether a call may run: as it is, or with the daemon's command in the place
// of its own. A command that has no place there is a no, whatever else was answered.
function lets(todo: Record<string, unknown>, args: any): boolean {
  const { block, command } = todo;
  if (command === undefined) return block === false;
  if (typeof command !== "string" || !command.trim() || typeof args?.command !== "string") return false;
  args.command = command;
  return args.command === command;
}
// The lines of ../shim/exchange.ts end here.

// context says which session this is, and what sorts of entries it holds.
function context(ctx: any) {
  const entries: { type: string }[] = ctx.sessionManager.getEntries();
  return {
    cwd: ctx.cwd,
    sessionId: ctx.sessionManager.getSessionId(),
    entries: [...new Set(entries.map((e) => e.type))],
  };
}

// What pi says of itself is sent only if it is what it should be: the daemon refuses the
// rest, and nothing depends on it.
const count = (n: unknown) => (Number.isInteger(n) && (n as number) > 0 && (n as number) < 2 ** 31 ? n : undefined);
const name = (s: unknown) => (typeof s === "string" ? s.slice(0, 100) : undefined);

function tell(ctx: any, text: unknown) {
  if (typeof text !== "string" || text === "") return;
  if (ctx.hasUI) ctx.ui.notify(text, "warning");
  else console.error(text);
}

// The questions that are shown now, by their call, with what says no to each. The key
// answers the newest one, which is drawn last.
const shown = new Map<string, () => void>();

const NO_KEY = "alt+n";

// windowOf shows the question about a call beside what pi draws, where somebody sits at a
// terminal. It takes no key but its own, so nothing that is typed meanwhile is an answer.
function windowOf(ctx: any, call: string): Window | undefined {
  if (!ctx.hasUI || !process.stdin.isTTY || !ctx.ui.setWidget) return undefined;
  const id = `floodmark ${call}`;
  return {
    show(question, no) {
      if (shown.has(call)) return;
      shown.set(call, no);
      ctx.ui.setWidget(id, [...question.split("\n").map((line, i) => (i ? `  ${line}` : `Floodmark asks: ${line}`)), `  No: ${NO_KEY} here.`]);
    },
    close() {
      if (shown.delete(call)) ctx.ui.setWidget(id, undefined);
    },
  };
}

// without leaves tools out of a request to a model, in whatever form its provider wants
// them. A name that pi does not know stays, and so does all else; a request without tools
// has no word about choosing one either.
function without(payload: any, hidden: Set<string>): any {
  const named = (t: any) => String(t?.name ?? t?.function?.name ?? t?.toolSpec?.name ?? "").toLowerCase();
  const kept = (list: any[]): any[] =>
    list
      .map((t) => (Array.isArray(t?.functionDeclarations) ? { ...t, functionDeclarations: kept(t.functionDeclarations) } : t))
      .filter((t) => !hidden.has(named(t)) && t?.functionDeclarations?.length !== 0);
  const within = (holder: any) => {
    if (!Array.isArray(holder?.tools)) return holder;
    const tools = kept(holder.tools);
    if (tools.length) return { ...holder, tools };
    const { tools: _tools, tool_choice: _choice, toolChoice: _other, parallel_tool_calls: _parallel, ...rest } = holder;
    return rest;
  };
  const copy = { ...within(payload) };
  if (copy.config) copy.config = within(copy.config);
  if (copy.toolConfig) copy.toolConfig = within(copy.toolConfig);
  if (copy.toolConfig && !Object.keys(copy.toolConfig).length) delete copy.toolConfig;
  return copy;
}

// warned adds a sentence to the system prompt of a request, wherever its provider wants the
// prompt to stand.
function warned(payload: any, prompt: string, warning: string): any {
  const add = (v: any): any => {
    if (v === prompt) return `${prompt}\n\n${warning}`;
    if (Array.isArray(v)) return v.map(add);
    return v && typeof v === "object" ? Object.fromEntries(Object.entries(v).map(([key, inner]) => [key, add(inner)])) : v;
  };
  const copy = { ...payload };
  for (const key of ["system", "instructions"]) if (key in copy) copy[key] = add(copy[key]);
  for (const key of ["messages", "input"]) {
    if (Array.isArray(copy[key]) && copy[key].length) copy[key] = [add(copy[key][0]), ...copy[key].slice(1)];
  }
  if (copy.config?.systemInstruction) copy.config = { ...copy.config, systemInstruction: add(copy.config.systemInstruction) };
  return copy;
}

// ended is a request that cannot be sent: some of pi's clients do not hear of an abort that
// came before they listened.
const ended = () => {
  const stop = () => {
    throw new Error("floodmark ended the turn");
  };
  return new Proxy({}, { get: (_of, key) => (key === "then" ? undefined : stop()), ownKeys: stop, has: stop });
};

export default function (pi: any) {
  pi.registerShortcut?.(NO_KEY, {
    description: "Floodmark: no to the question that is shown",
    handler: () => [...shown.values()].pop()?.(),
  });

  pi.on("session_start", async (event: any, ctx: any) => {
    try {
      await ask(event.type, { event, ctx: context(ctx) });
    } catch (err) {
      tell(ctx, because(err)); // a session nobody announced is not believed later
    }
  });

  pi.on("input", async (event: any, ctx: any) => {
    try {
      const todo = await ask(event.type, { event, ctx: context(ctx) });
      tell(ctx, todo.notice);
      return { action: todo.action === "continue" ? "continue" : "handled" };
    } catch (err) {
      tell(ctx, because(err));
      return { action: "handled" };
    }
  });

  // Before each call of the model. pi itself takes a new list of active tools only when
  // a run begins; tool_call is what holds.
  pi.on("before_provider_request", async ({ type, payload }: any, ctx: any) => {
    try {
      const tools: string[] = pi.getActiveTools();
      const prompt: string = ctx.getSystemPrompt?.() || "";
      const told = {
        model: name(ctx.model?.id),
        tokenEstimate: count(ctx.getContextUsage?.()?.tokens),
        promptDigest: prompt ? crypto.createHash("sha256").update(prompt).digest("hex") : undefined,
      };
      const todo = await ask(type, { event: { type, tools, ...told }, ctx: context(ctx) });
      if (todo.stop !== false) {
        tell(ctx, todo.stop);
        ctx.abort();
        return ended();
      }
      const hidden: string[] = Array.isArray(todo.hidden) ? todo.hidden : tools;
      let changed = payload;
      if (hidden.length) changed = without(changed, new Set(hidden.map((tool) => tool.toLowerCase())));
      if (prompt && typeof todo.warning === "string" && todo.warning) changed = warned(changed, prompt, todo.warning);
      return changed === payload ? undefined : changed;
    } catch {
      return undefined; // the model is told why when a call of its own is refused
    }
  });

  pi.on("tool_call", async (event: any, ctx: any) => {
    const { type, toolName, toolCallId, input } = event;
    try {
      const told = { event: { type, toolName, toolCallId, input }, ctx: context(ctx) };
      const todo = await ask(type, told, deadline(process.env), person(process.env), ctx.signal, windowOf(ctx, toolCallId));
      if (lets(todo, input)) return undefined;
      return { block: true, reason: String(todo.reason ?? NO_ANSWER) };
    } catch (err) {
      return { block: true, reason: because(err) };
    }
  });

  pi.on("tool_result", async (event: any, ctx: any) => {
    const { type, toolName, toolCallId, input, content, isError } = event;
    try {
      const told = { type, toolName, toolCallId, input, content, isError };
      const todo = await ask(type, { event: told, ctx: context(ctx) });
      if (todo.keep === true) return undefined;
      if (Array.isArray(todo.content)) return todo;
      throw new Error("the answer says nothing");
    } catch (err) {
      // Throwing would show the result: pi only notes the error.
      return { content: [{ type: "text", text: because(err) }], details: {}, isError: true };
    }
  });

  pi.on("user_bash", async (event: any, ctx: any) => {
    try {
      const todo = await ask(event.type, { event, ctx: context(ctx) });
      if (todo.keep === true) return undefined;
      throw new Error("the answer says nothing");
    } catch (err) {
      return { result: { output: because(err), exitCode: 1, cancelled: false, truncated: false } };
    }
  });

  // What a round took. pi writes out nothing while a handler of this event works, and does
  // not wait for what is unwritten when it ends; so nobody waits for the answer.
  pi.on("turn_end", ({ type, turnIndex, message, toolResults }: any, ctx: any) => {
    const usage = message?.usage;
    const told = {
      iteration: count(turnIndex),
      model: name(message?.model),
      tokens: { input: count(usage?.input + usage?.cacheRead + usage?.cacheWrite), output: count(usage?.output) },
      calls: count(toolResults?.length),
      goesOn: message?.stopReason === "toolUse",
    };
    try {
      void ask(type, { event: { type, ...told }, ctx: context(ctx) }, LAST_WORDS_MS).catch(() => {});
    } catch {
      // the session is over
    }
  });

  for (const type of ["agent_end", "session_shutdown"]) {
    pi.on(type, async (_event: any, ctx: any) => {
      await ask(type, { event: { type }, ctx: context(ctx) }, LAST_WORDS_MS).catch(() => {});
    });
  }
}
