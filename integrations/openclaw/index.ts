// Floodmark for OpenClaw: hands OpenClaw's events to the Floodmark daemon and
// does what it answers. There is no judgement in here. Whatever goes wrong is a
// no: OpenClaw runs no tool, shows no result, begins no run and answers nobody but
// its owner unless the daemon has said yes.

import fs from "node:fs";
import net from "node:net";
import path from "node:path";

const AGENT = "openclaw"; // it stops waiting after 15 s, and blocks then

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

// Memory of what one hook is told and another one needs, the newest MAX_KEPT.
const MAX_KEPT = 4096;

class Kept<T> {
  private readonly map = new Map<string, T>();
  get = (key: string) => this.map.get(key);
  set(key: string, value: T) {
    this.map.delete(key);
    this.map.set(key, value);
    if (this.map.size > MAX_KEPT) this.map.delete(this.map.keys().next().value as string);
  }
  delete = (key: string) => this.map.delete(key);
}

// A conversation is where messages come from; isGroup never changes for one.
type Conversation = { isGroup?: boolean; said: string[]; quotes: { text: string; sender?: string }[] };

// A Run is what its answers are told with: its session, who wrote, whether the
// owner is alone there, whether it has ended, whether an answer was withheld, and why
// tools were refused.
type Run = { told: any; alone: boolean; ended?: boolean; withheld?: boolean; refused: Record<string, string> };

function memory() {
  return {
    conversations: new Kept<Conversation>(),
    turns: new Kept<{ inputProvenance?: any; past: boolean; blocked?: boolean }>(), // by run
    runs: new Kept<Run>(), // by run, also when it is over
    arrived: new Kept<string>(), // who sent a message, by session, channel and message
    notices: new Kept<string>(), // what we said last in place of a run, by the key of its session
    ends: new Kept<{ timer: NodeJS.Timeout; told: object; telling?: Promise<void> }>(), // the ends of runs that are not told yet, by session
    sessions: new Kept<string>(), // the id of the session a key stands for now
    parents: new Kept<string>(), // by the key of a sub-agent's session
    tools: new Kept<string[]>(), // what a session was offered last
    inner: new Kept<string[]>(), // the calls inside others, of a session
  };
}

// OpenClaw loads a plugin more than once into one process, and asks now this
// copy, now that one. The number counts what is kept: a copy of another version
// has a memory of its own.
const shared = Symbol.for("floodmark 3");
const kept: ReturnType<typeof memory> = ((globalThis as any)[shared] ??= memory());
const { conversations, arrived, turns, runs, notices, ends, sessions, parents, tools, inner } = kept;

const where = (sessionKey?: string, channel?: string, chat?: string) => JSON.stringify([sessionKey, channel, chat]);

// about is all that leaves of what OpenClaw says about a run.
function about(ctx: any) {
  const { agentId, sessionKey, sessionId, workspaceDir, trigger, senderId, chatId, jobId } = ctx;
  return { agentId, sessionKey, sessionId, workspaceDir, trigger, channel: ctx.channel ?? ctx.messageProvider, senderId, chatId, jobId };
}

const tell = (event: string, told: object) => ask(event, told, LAST_WORDS_MS).then(() => undefined, () => undefined);

// ended tells the end of a session's last run, once; whoever comes meanwhile waits for it.
async function ended(session: string) {
  const end = ends.get(session);
  if (!end) return;
  clearTimeout(end.timer);
  await (end.telling ??= tell("agent_end", end.told));
  if (ends.get(session) === end) ends.delete(session);
}

const known = (sessionKey?: string) => sessionKey && { sessionKey, sessionId: sessions.get(sessionKey) };

// A session's history holds something if anybody but OpenClaw itself spoke.
const spoke = (messages: any) => !Array.isArray(messages) || messages.some((m) => m?.role !== "custom");

// added is what OpenClaw itself put before a message: whose it is, and what
// happened elsewhere.
function added(messages: any): string[] {
  const own = Array.isArray(messages) ? messages.findLast((m) => m?.role === "custom") : undefined;
  const texts = (own?.details?.fragments ?? []).map((f: any) => f?.text ?? "");
  return texts.length ? texts : [String(own?.content ?? "")];
}

// begun waits a moment for the news whose sub-agent this is: OpenClaw does not
// wait for us to hear it.
async function begun(sessionKey?: string): Promise<string | undefined> {
  for (let tries = 0; sessionKey?.includes(":subagent:") && !parents.get(sessionKey) && tries < 20; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return sessionKey && parents.get(sessionKey);
}

// message asks about what somebody wrote to the agent.
async function message(event: any, ctx: any) {
  const conversation = conversations.get(where(ctx.sessionKey, ctx.channel ?? ctx.messageProvider, ctx.chatId));
  const turn = turns.get(ctx.runId);
  const { kind, sourceSessionKey, sourceTool, originSessionId } = turn?.inputProvenance ?? {};
  const parent = await begun(ctx.sessionKey);
  const told = {
    ...about(ctx),
    prompt: event.prompt,
    senderIsOwner: event.senderIsOwner === true,
    isGroup: conversation?.isGroup,
    said: conversation?.said.splice(0),
    quotes: conversation?.quotes.splice(0),
    added: added(event.messages),
    provenance: { kind, sourceTool, originSessionId, source: known(sourceSessionKey) },
    parent: known(parent),
    past: turn?.past !== false || spoke(event.messages),
  };
  if (ctx.sessionKey && ctx.sessionId) sessions.set(ctx.sessionKey, ctx.sessionId);
  const { senderIsOwner, isGroup, provenance } = told;
  const run: Run = { told: { ...about(ctx), senderIsOwner, isGroup, provenance, parent: told.parent }, alone: false, refused: {} };
  runs.set(ctx.runId, run);
  const todo = await ask("before_agent_run", told);
  run.alone = todo.alone === true;
  return todo;
}

// An answer goes where its run's message came from, or elsewhere: OpenClaw names
// that message, or where the answer goes.
function here({ told }: Run, ctx: any): boolean {
  if (!told.channel || ctx.channelId !== told.channel) return false;
  if (ctx.messageId) return ctx.senderId === told.senderId && arrived.get(where(told.sessionKey, told.channel, ctx.messageId)) === (told.senderId ?? "");
  return !!told.chatId && [told.chatId, `${told.channel}:${told.chatId}`].includes(ctx.conversationId);
}

// beside is all that leaves with a text: buttons, cards, names of files, and places
// that OpenClaw or a chat app may load.
function beside(value: any, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object" || depth > 16) return [];
  return Object.values(value).flatMap((v) => beside(v, depth + 1));
}

const isPlace = (text: string) => /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(text);

// answer asks about one piece of an answer. None ends a turn while its run goes on.
async function answer(event: any, ctx: any, wait: number) {
  const { text = "", ...rest } = event.payload ?? {};
  const along = beside(rest);
  const loads = along.filter(isPlace);
  const run = runs.get(event.runId ?? ctx.runId);
  const told = {
    ...(run?.told ?? known(event.sessionKey ?? ctx.sessionKey)),
    here: !!run && here(run, ctx),
    more: !run?.ended,
    text: String(text),
    beside: along.filter((s) => !isPlace(s)),
    loads,
    files: [rest.mediaUrl, ...[rest.mediaUrls].flat()].filter((s) => typeof s === "string" && s && !isPlace(s)),
    refused: run?.refused,
  };
  const session = where(told.sessionKey, told.sessionId);
  clearTimeout(ends.get(session)?.timer);
  try {
    return await ask("reply_payload_sending", told, wait);
  } catch (err) {
    if (!run?.alone || !told.here) throw err;
    const whole = [told.text.replaceAll("![", "[").replaceAll("<", "‹"), ...loads].join("\n\n");
    return { send: true, alone: loads.length > 0, text: `${whole}\n\n(${because(err)})` };
  } finally {
    if (!told.more) void ended(session); // OpenClaw would send while we wait for that
  }
}

// How long an answer to others waits for its owner: always less than OpenClaw waits
// for us, which would send it then.
const ANSWER_MS = 100_000;
const ANSWER_COMES_MS = 10_000;

function answerWait(config: any): number {
  const hooks = config?.plugins?.entries?.floodmark?.hooks;
  const most = Number(hooks?.timeouts?.reply_payload_sending ?? hooks?.timeoutMs ?? ANSWER_MS * 2);
  return Math.min(ANSWER_MS, most > 4_000 ? most - 2_000 : most / 2);
}

// What the author of a plugin says of its tools is read from disk, because OpenClaw
// keeps none of it: so much, and no more.
const MAX_FOLDERS = 256;
const MAX_MANIFEST = 2 ** 16;
const MAX_MARKED = 256;

const listed = (folder: string) => attempt(() => fs.readdirSync(folder), []).slice(0, MAX_FOLDERS).map((name) => path.join(folder, name));

function attempt<T>(does: () => T, otherwise: T): T {
  try {
    return does();
  } catch {
    return otherwise;
  }
}

function parsed(file: string): any {
  return attempt(() => {
    const about = fs.statSync(file); // a device or a pipe has no size, and no end
    return about.isFile() && about.size <= MAX_MANIFEST ? JSON.parse(fs.readFileSync(file, "utf8")) : undefined;
  }, undefined);
}

// cautious are the tools that the authors of plugins want treated with caution:
// «metadata: {openclaw: {caution: true}}» in a manifest, for all tools of the plugin, or
// the same or «caution: true» in its toolMetadata, for one. OpenClaw lets a plugin offer
// no tool that its manifest does not list. Nothing but true counts.
function cautious(rootDir: unknown, config: any): Set<string> {
  const folders = (config?.plugins?.load?.paths ?? []).filter((p: any) => typeof p === "string");
  if (typeof rootDir === "string") {
    folders.push(...listed(path.dirname(rootDir)));
    for (const project of listed(path.join(rootDir, "..", "..", "npm", "projects"))) {
      const packages = Object.keys(parsed(path.join(project, "package.json"))?.dependencies ?? {});
      folders.push(...packages.slice(0, 16).map((name) => path.join(project, "node_modules", name)));
    }
  }
  const marked = (m: any) => m?.metadata?.openclaw?.caution === true;
  const names = folders.slice(0, 2 * MAX_FOLDERS).flatMap((folder: string) => {
    const manifest = parsed(path.join(folder, "openclaw.plugin.json"));
    const own = Array.isArray(manifest?.contracts?.tools) ? manifest.contracts.tools.slice(0, MAX_MARKED) : [];
    const of = (name: string) => manifest.toolMetadata?.[name];
    return own.filter((n: any) => typeof n === "string" && n.length <= 128 && (marked(manifest) || marked(of(n)) || of(n)?.caution === true));
  });
  return new Set<string>(names);
}

// «openclaw agent exec» loads plugins to look at them and calls none of their
// hooks. It goes on without one that throws, so it is ended.
function refuseExec(args: string[]) {
  if (args[args.indexOf("agent") + 1] !== "exec" || !args.includes("agent")) return;
  console.error("floodmark: «openclaw agent exec» runs no hooks, so it is not allowed. Use «openclaw agent --local».");
  process.exit(1);
}

const plugin = {
  id: "floodmark",
  name: "Floodmark",
  description: "Hands OpenClaw's events to the Floodmark daemon and does what it answers",
  register(api: any) {
    refuseExec(process.argv.slice(2));
    const marked = cautious(api.rootDir, api.config);
    // Which of them a call is, also inside tool_call: a long list of one plugin leaves
    // no other's out.
    const caution = (tool: string, args: any) => [tool, String(args?.id).split(":").at(-1)].filter((name: any) => marked.has(name));

    api.on("before_dispatch", (event: any, ctx: any) => {
      const key = where(event.sessionKey ?? ctx.sessionKey, event.channel ?? ctx.channelId, ctx.conversationId);
      const c: Conversation = conversations.get(key) ?? { said: [], quotes: [] };
      c.isGroup = event.isGroup;
      c.said = [...c.said, String(event.content)].slice(-16);
      const { replyToBody: text, replyToSender: sender } = event;
      if (text) c.quotes = [...c.quotes, { text, sender }].slice(-16);
      conversations.set(key, c);
      arrived.set(where(event.sessionKey ?? ctx.sessionKey, event.channel ?? ctx.channelId, event.messageId ?? ctx.messageId), event.senderId ?? "");
    });

    // Only what OpenClaw offered before is known here, so a first turn has all
    // its tools; before_tool_call is what holds.
    api.on("before_prompt_build", async (event: any, ctx: any) => {
      await ended(where(ctx.sessionKey, ctx.sessionId));
      turns.set(ctx.runId, { inputProvenance: ctx.inputProvenance, past: spoke(event.messages) });
      const offered = tools.get(where(ctx.sessionKey, ctx.sessionId));
      if (!offered) return undefined;
      try {
        const todo = await ask("before_prompt_build", { ...about(ctx), tools: offered });
        if (!Array.isArray(todo.hidden)) return { toolsAllow: [] };
        const hidden = new Set(todo.hidden);
        return hidden.size ? { toolsAllow: offered.filter((name) => !hidden.has(name)) } : undefined;
      } catch {
        return { toolsAllow: [] };
      }
    });

    api.on("llm_input", (event: any, ctx: any) => {
      const names = (event.tools ?? []).map((t: any) => (typeof t === "string" ? t : t?.name));
      tools.set(where(ctx.sessionKey, ctx.sessionId), names.filter((n: any) => typeof n === "string"));
    });

    const said = (ctx: any, message: string) => {
      notices.set(ctx.sessionKey, message);
      return { outcome: "block", reason: "floodmark", message };
    };

    api.on("before_agent_run", async (event: any, ctx: any) => {
      try {
        const todo = await message(event, ctx);
        if (todo.action === "continue") return { outcome: "pass" };
        turns.set(ctx.runId, { past: true, ...turns.get(ctx.runId), blocked: true });
        return said(ctx, String(todo.notice ?? NO_ANSWER));
      } catch (err) {
        return said(ctx, because(err));
      }
    });

    // Without an answer OpenClaw runs nothing. It is asked for less time than the
    // daemon keeps its question.
    const asking = ({ title, description }: any, call: object) => ({
      requireApproval: {
        title: String(title),
        description: String(description),
        allowedDecisions: ["allow-once", "deny"],
        timeoutMs: 100_000,
        onResolution: (decision: string) => tell("approval_ended", { ...call, decision }),
      },
    });

    api.on("before_tool_call", async (event: any, ctx: any) => {
      const { toolName, params, toolCallId, toolKind } = event;
      const { channel, senderId, senderIsOwner } = ctx.requester ?? {};
      const call = { ...about(ctx), toolName, args: params, toolCallId, toolKind, caution: caution(toolName, params) };
      if (String(toolCallId).startsWith("tool_search_code:")) {
        const key = where(ctx.sessionKey, ctx.sessionId);
        inner.set(key, [...(inner.get(key) ?? []), toolCallId].slice(-64));
      }
      try {
        const told = { ...call, channelId: ctx.channelId, requester: { channel, senderId, senderIsOwner: senderIsOwner === true } };
        const todo = await ask("before_tool_call", told);
        const run = runs.get(ctx.runId);
        const changed = { ...params };
        const runsNow = lets(todo, changed);
        if (run && runsNow) delete run.refused[toolName];
        if (run && todo.why && Object.keys(run.refused).length < 8) run.refused[toolName] = String(todo.why);
        if (runsNow) return todo.command === undefined ? undefined : { params: changed };
        if (todo.ask) return asking(todo.ask, call);
        return { block: true, blockReason: String(todo.reason ?? NO_ANSWER) };
      } catch (err) {
        return { block: true, blockReason: because(err) };
      }
    });

    // Throwing would hide the result too, but not say why.
    api.registerAgentToolResultMiddleware(
      async (event: any, ctx: any) => {
        const { toolName, args, toolCallId, isError, result } = event;
        let text: string;
        try {
          const told = {
            ...about(ctx),
            toolName,
            args,
            toolCallId,
            caution: caution(toolName, args),
            isError: isError === true,
            result: result?.content,
            inner: toolName === "tool_call" ? inner.get(where(ctx.sessionKey, ctx.sessionId)) : undefined,
          };
          const todo = await ask("tool_result", told);
          if (todo.keep === true) return undefined;
          text = String(todo.withhold ?? NO_ANSWER);
        } catch (err) {
          text = because(err);
        }
        return { result: { content: [{ type: "text", text }], details: {} } };
      },
      { runtimes: ["openclaw"] },
    );

    api.on("subagent_spawned", (event: any, ctx: any) => {
      if (event.childSessionKey && ctx.requesterSessionKey) parents.set(event.childSessionKey, ctx.requesterSessionKey);
    });

    api.on("subagent_ended", async (event: any, ctx: any) => {
      const child = known(event.targetSessionKey);
      const parent = known(ctx.requesterSessionKey ?? parents.get(event.targetSessionKey));
      if (child && parent) await tell("subagent_ended", { ...parent, child });
    });

    api.on("after_compaction", async (event: any, ctx: any) => {
      if (event.previousSessionId) await tell("after_compaction", { ...about(ctx), previous: event.previousSessionId });
    });

    // A run that did not begin ends no turn: what the owner approves in one that is
    // «.approve» and no more holds for the next. Its answer in a chat comes after the
    // end of the run, so that is told a little later.
    api.on("agent_end", async (_event: any, ctx: any) => {
      const blocked = turns.get(ctx.runId)?.blocked;
      turns.delete(ctx.runId);
      if (blocked) return;
      const run = runs.get(ctx.runId);
      const session = where(ctx.sessionKey, ctx.sessionId);
      await ended(session);
      ends.set(session, { timer: setTimeout(() => ended(session), ANSWER_COMES_MS), told: about(ctx) });
      if (run) run.ended = true;
      if (!run?.told.channel) await ended(session);
    });

    // After this OpenClaw sends. It sends too if we throw or are late, so neither may
    // happen; and other plugins change an answer before us.
    const wait = answerWait(api.config);
    const sending = async (event: any, ctx: any) => {
      try {
        const key = event.sessionKey ?? ctx.sessionKey;
        const notice = notices.get(key);
        const ours = notice && [notice, `Your message could not be sent: ${notice} (blocked by floodmark)`].includes(event.payload?.text);
        if (ours && beside({ ...event.payload, text: undefined }).length === 0) return void notices.delete(key);
        // What OpenClaw says of an answer that did not leave does not leave either.
        const run = runs.get(event.runId ?? ctx.runId);
        if (run?.withheld && !(run.alone && here(run, ctx))) return { cancel: true, reason: "floodmark" };
        const todo = await answer(event, ctx, wait);
        if (run && todo.send !== true) run.withheld = true;
        if (todo.send === true && typeof todo.text !== "string") return undefined;
        if (todo.send === true) return { payload: todo.alone === true ? { text: todo.text } : { ...event.payload, text: todo.text } };
        api.logger?.warn?.(`an answer was not sent: ${String(todo.reason ?? NO_ANSWER)}`);
      } catch (err) {
        const run = runs.get(event.runId ?? ctx.runId);
        if (run) run.withheld = true;
        api.logger?.warn?.(`an answer was not sent: ${because(err)}`);
      }
      return { cancel: true, reason: "floodmark" };
    };
    api.on("reply_payload_sending", sending, { priority: -1_000_000, timeoutMs: ANSWER_MS * 2 });

    api.on("session_end", async (_event: any, ctx: any) => {
      const session = where(ctx.sessionKey, ctx.sessionId);
      tools.delete(session);
      inner.delete(session);
      await ended(session);
      await tell("session_end", about(ctx));
    });
  },
};

export default plugin;
