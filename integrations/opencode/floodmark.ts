// Floodmark for opencode: hands what opencode tells its plugins to the
// Floodmark daemon and does what it answers. There is no judgement in here.
// Whatever goes wrong is a no: opencode runs no tool, shows no result and
// passes on no message that the daemon has not said yes to.
//
//   a copy in ~/.config/opencode/plugins/, and the lock of README.md beside it

import { createHash } from "node:crypto";
import net from "node:net";
import path from "node:path";

const AGENT = "opencode"; // it would wait for ever, so we do not

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

// LOCK stands before each provider in opencode's «enabled_providers». opencode
// knows none of that name, so without this plugin there is no model.
const LOCK = "floodmark:";

function unlock(config: any) {
  const list: unknown = config.enabled_providers;
  if (!Array.isArray(list) || !list.some((p) => String(p).startsWith(LOCK))) return;
  const own = list.map(String).map((p) => (p.startsWith(LOCK) ? p.slice(LOCK.length) : p));
  if (own.includes("*")) delete config.enabled_providers;
  else config.enabled_providers = own;
}

const sha256 = (data: unknown) => createHash("sha256").update(String(data)).digest("hex");

// part says what a part of a message is. Files are read before we are told:
// their text stands before them, and of pictures a digest is enough.
function part(p: any, templates: Set<string>) {
  const text = p.text ?? p.prompt;
  const url = typeof p.url === "string" ? p.url : undefined;
  return {
    type: p.type,
    text,
    synthetic: p.synthetic === true,
    template: typeof text === "string" && templates.has(text),
    url: url?.startsWith("file:") ? url : undefined,
    sha256: url && !url.startsWith("file:") ? sha256(url) : undefined,
  };
}

export const Floodmark = async ({ client }: any) => {
  let servers: string[] = [];
  const sessions = new Map<string, Promise<any>>();
  const started = new Set<string>();
  const running = new Map<string, any>(); // calls that were allowed, until they are reported
  const withheld = new Map<string, string>(); // errors of calls the model must not read
  const commands = new Map<string, { typed: string; templates: Set<string> }>();

  // session asks opencode whose a session is. Its event for a new session is
  // not waited for, and looks the same for a copy of an old one.
  function session(id: string): Promise<any> {
    let known = sessions.get(id);
    if (!known) {
      known = (async () => {
        const { data } = await client.session.get({ path: { id } });
        if (data?.id !== id) throw new Error("opencode does not know the session");
        return { id, parentID: data.parentID, directory: data.directory };
      })();
      known.catch(() => sessions.delete(id));
      sessions.set(id, known);
    }
    return soon(known);
  }

  // begun says, once, whether a session is new or has a past.
  async function begun(id: string) {
    const known = await session(id);
    if (started.has(id)) return known;
    const { data } = await soon<any>(client.session.messages({ path: { id }, query: { limit: 1 } }));
    return { ...known, start: Array.isArray(data) && data.length === 0 ? "startup" : "resume" };
  }

  function tell(text: unknown) {
    if (typeof text !== "string" || text === "") return;
    client.tui?.showToast?.({ body: { message: text, variant: "warning" } })?.catch?.(() => {});
    if (process.argv.includes("run")) console.error(text); // opencode keeps our words to itself
  }

  // result reports what a tool gave, and returns what to show in its place.
  async function result(call: any, output: unknown, more: object): Promise<string | undefined> {
    running.delete(call.callID);
    try {
      const { tool, sessionID, callID, args } = call;
      const todo = await ask("tool.execute.after", { session: { id: sessionID }, servers, tool, callID, args, output, ...more });
      if (todo.keep === true) return undefined;
      if (typeof todo.withhold === "string") return todo.withhold;
      throw new Error("the answer says nothing");
    } catch (err) {
      return because(err);
    }
  }

  return {
    config: async (config: any) => {
      servers = Object.keys(config.mcp ?? {});
      unlock(config);
    },

    "chat.message": async (input: any, output: any) => {
      const id = input.sessionID;
      const { typed, templates } = commands.get(id) ?? { typed: undefined, templates: new Set<string>() };
      commands.delete(id);
      let todo: Record<string, unknown>;
      try {
        const parts = output.parts.map((p: any) => part(p, templates));
        todo = await ask("chat.message", { session: await begun(id), command: typed, parts });
      } catch (err) {
        tell(because(err));
        throw new Error(because(err));
      }
      tell(todo.notice);
      if (todo.action !== "continue") throw new Error(String(todo.notice ?? NO_ANSWER));
      started.add(id);
    },

    "command.execute.before": async (input: any, output: any) => {
      const texts = output.parts.map((p: any) => p.text ?? p.prompt).filter((t: any) => typeof t === "string");
      commands.set(input.sessionID, { typed: input.arguments, templates: new Set(texts) });
    },

    "tool.execute.before": async (input: any, output: any) => {
      const { tool, sessionID, callID } = input;
      const args = output.args;
      let todo: Record<string, unknown>;
      try {
        const on = args?.task_id || args?.session_id;
        const target = tool === "task" && on ? await session(String(on)) : undefined;
        const told = { session: { id: sessionID }, servers, target, tool, callID, args };
        todo = await ask("tool.execute.before", told, deadline(process.env), person(process.env));
      } catch (err) {
        throw new Error(because(err));
      }
      if (!lets(todo, args)) throw new Error(String(todo.reason ?? NO_ANSWER));
      running.set(callID, { tool, sessionID, callID, args });
    },

    "tool.execute.after": async (input: any, output: any) => {
      const attachments = output.attachments?.map((a: any) => sha256(a.url));
      const given = { output: output.output, content: output.content, attachments };
      const text = await result(input, given, { child: output.metadata?.sessionId });
      if (text === undefined) return;
      for (const key of Object.keys(output)) delete output[key];
      // Built-in tools have an output, those of servers a content.
      Object.assign(output, { title: "", metadata: {}, output: text, content: [{ type: "text", text }] });
    },

    // A tool that failed is reported here only, before the model reads it.
    "experimental.chat.messages.transform": async (_input: any, output: any) => {
      for (const p of output.messages.flatMap((m: any) => m.parts)) {
        if (p.type !== "tool" || p.state?.status !== "error") continue;
        const call = running.get(p.callID);
        const text = call && (await result(call, p.state.error, { error: true }));
        if (text !== undefined) withheld.set(p.callID, text);
        if (withheld.has(p.callID)) p.state.error = withheld.get(p.callID);
      }
    },

    // A command that the person ran has no call.
    "shell.env": async ({ sessionID, callID }: any) => {
      if (!sessionID || running.has(callID)) return;
      const todo = await ask("shell.env", { session: { id: sessionID } });
      if (todo.keep !== true) throw new Error(NO_ANSWER);
    },

    event: async ({ event }: any) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (!id || (event.type !== "session.idle" && event.type !== "session.deleted")) return;
      await ask(event.type, { session: { id } }, LAST_WORDS_MS).catch(() => {});
    },
  };
};

// soon gives up on opencode itself as on the daemon.
function soon<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("opencode did not answer in time")), deadline(process.env));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
