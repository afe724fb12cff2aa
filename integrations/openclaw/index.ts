// Floodmark for OpenClaw: hands OpenClaw's events to the Floodmark daemon and
// does what it answers. There is no judgement in here. Whatever goes wrong is a
// no: OpenClaw runs no tool, shows no result and begins no run that the daemon
// has not said yes to.

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

// ask sends one question and returns the daemon's answer. Anything but a whole
// answer in time, with status 0 and an object to do, is an error.
async function ask(event: string, raw: object, wait = deadline(process.env)): Promise<Record<string, unknown>> {
  const env: Record<string, string> = {};
  if (process.env.HOME) env.HOME = process.env.HOME;
  const body = Buffer.from(JSON.stringify({ v: VERSION, agent: AGENT, event, raw, env, deadline_ms: wait }));
  if (body.length > MAX_REQUEST) throw new Error("the message is too large");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);

  const answer = JSON.parse((await exchange(Buffer.concat([length, body]), wait)).toString("utf8"));
  if (answer?.v !== VERSION || typeof answer.stdout !== "string") throw new Error("the answer is of another version");
  if (answer.exit !== 0) throw new Error(String(answer.stderr).trim() || "it said no");
  const todo = JSON.parse(answer.stdout);
  if (todo === null || typeof todo !== "object") throw new Error("the answer says nothing");
  return todo;
}

// exchange writes a frame and reads one. The socket stays open for writing
// until then: the daemon would take us for gone.
function exchange(frame: Buffer, wait: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(socketPath(process.env));
    const got: Buffer[] = [];
    let size = 0;
    const fail = (err: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(err);
    };
    const timer = setTimeout(() => fail(new Error("the daemon did not answer in time")), wait);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the daemon closed the connection")));
    socket.on("data", (data: Buffer) => {
      got.push(data);
      size += data.length;
      if (size < 4) return;
      const all = Buffer.concat(got);
      const length = all.readUInt32BE(0);
      if (length > MAX_RESPONSE) return fail(new Error("the answer is too large"));
      if (size < 4 + length) return;
      clearTimeout(timer);
      resolve(all.subarray(4, 4 + length));
      socket.destroy();
    });
    socket.write(frame);
  });
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

function memory() {
  return {
    conversations: new Kept<Conversation>(),
    turns: new Kept<{ inputProvenance?: any; past: boolean; blocked?: boolean }>(), // by run
    sessions: new Kept<string>(), // the id of the session a key stands for now
    parents: new Kept<string>(), // by the key of a sub-agent's session
    tools: new Kept<string[]>(), // what a session was offered last
    inner: new Kept<string[]>(), // the calls inside others, of a session
  };
}

// OpenClaw loads a plugin more than once into one process, and asks now this
// copy, now that one. The number counts what is kept: a copy of another version
// has a memory of its own.
const shared = Symbol.for("floodmark 2");
const { conversations, turns, sessions, parents, tools, inner }: ReturnType<typeof memory> = ((globalThis as any)[shared] ??= memory());

const where = (sessionKey?: string, channel?: string, chat?: string) => JSON.stringify([sessionKey, channel, chat]);

// about is all that leaves of what OpenClaw says about a run.
function about(ctx: any) {
  const { sessionKey, sessionId, workspaceDir, trigger, senderId, chatId, jobId } = ctx;
  return { sessionKey, sessionId, workspaceDir, trigger, channel: ctx.channel ?? ctx.messageProvider, senderId, chatId, jobId };
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
  return ask("before_agent_run", told);
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

    api.on("before_dispatch", (event: any, ctx: any) => {
      const key = where(event.sessionKey ?? ctx.sessionKey, event.channel ?? ctx.channelId, ctx.conversationId);
      const c: Conversation = conversations.get(key) ?? { said: [], quotes: [] };
      c.isGroup = event.isGroup;
      c.said = [...c.said, String(event.content)].slice(-16);
      const { replyToBody: text, replyToSender: sender } = event;
      if (text) c.quotes = [...c.quotes, { text, sender }].slice(-16);
      conversations.set(key, c);
    });

    // Only what OpenClaw offered before is known here, so a first turn has all
    // its tools; before_tool_call is what holds.
    api.on("before_prompt_build", async (event: any, ctx: any) => {
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

    api.on("before_agent_run", async (event: any, ctx: any) => {
      try {
        const todo = await message(event, ctx);
        if (todo.action === "continue") return { outcome: "pass" };
        turns.set(ctx.runId, { past: true, ...turns.get(ctx.runId), blocked: true });
        return { outcome: "block", reason: "floodmark", message: String(todo.notice ?? NO_ANSWER) };
      } catch (err) {
        return { outcome: "block", reason: "floodmark", message: because(err) };
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
      const call = { ...about(ctx), toolName, args: params, toolCallId, toolKind };
      if (String(toolCallId).startsWith("tool_search_code:")) {
        const key = where(ctx.sessionKey, ctx.sessionId);
        inner.set(key, [...(inner.get(key) ?? []), toolCallId].slice(-64));
      }
      try {
        const told = { ...call, channelId: ctx.channelId, requester: { channel, senderId, senderIsOwner: senderIsOwner === true } };
        const todo = await ask("before_tool_call", told);
        if (todo.block === false) return undefined;
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

    const tell = (event: string, told: object) => ask(event, told, LAST_WORDS_MS).then(() => undefined, () => undefined);

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
    // «.approve» and no more holds for the next.
    api.on("agent_end", async (_event: any, ctx: any) => {
      const blocked = turns.get(ctx.runId)?.blocked;
      turns.delete(ctx.runId);
      if (!blocked) await tell("agent_end", about(ctx));
    });

    api.on("session_end", async (_event: any, ctx: any) => {
      tools.delete(where(ctx.sessionKey, ctx.sessionId));
      inner.delete(where(ctx.sessionKey, ctx.sessionId));
      await tell("session_end", about(ctx));
    });
  },
};

export default plugin;
