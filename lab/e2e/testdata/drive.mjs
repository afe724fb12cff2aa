// Drives a shim without its agent: node drive.mjs JITI AGENT SHIM prints what
// becomes of a message, a call, a result and a command of the person's, as one
// JSON object. An absent field means that it never came to that.
import { pathToFileURL } from "node:url";

const [, , jitiPath, agent, shim] = process.argv;
const { createJiti } = await import(pathToFileURL(jitiPath).href);
const plugin = await createJiti(import.meta.url).import(shim);

// Each returns {message, call, ran, result, failed, shell, tools}: whether a message is
// passed on, why a call is not run and with which arguments it is, what the model reads of a result and of an
// error, whether a command of the person's runs, and which tools the model is offered.
// What an agent has no hook for is as it would be.
const drivers = { pi: drivePi, opencode: driveOpencode, openclaw: driveOpenclaw };
process.stdout.write(JSON.stringify(await drivers[agent]()));

async function drivePi() {
  const handlers = {};
  const names = ["bash", "read"];
  plugin.default({ on: (name, handler) => (handlers[name] = handler), getActiveTools: () => names });
  let aborted = false;
  const ctx = {
    cwd: "/home/dev/project",
    hasUI: false,
    abort: () => (aborted = true),
    model: { id: "m" },
    getSystemPrompt: () => process.env.DRIVE_PROMPT ?? "PROMPT",
    getContextUsage: () => ({ tokens: 12.5 }),
    sessionManager: { getEntries: () => [], getSessionId: () => "s" },
  };
  const send = (type, more) => handlers[type]({ type, ...more }, ctx);
  const call = { toolName: "bash", toolCallId: "c", input: { command: "ls", timeout: 7 } };
  const given = { ...call, content: [{ type: "text", text: "RESULT" }], details: { x: "RESULT" } };
  await send("session_start", { reason: "startup" });
  const message = await send("input", { text: "hi", source: "interactive" });
  // As the providers want their tools; what else a request holds stays as it is.
  const forms = {
    completions: { messages: [{ role: "system", content: "PROMPT" }, { content: "PROMPT", tools: ["bash"] }], tools: names.map((name) => ({ type: "function", function: { name } })), tool_choice: "auto" },
    responses: { input: [{ role: "developer", content: "PROMPT" }, { name: "bash" }], tools: names.map((name) => ({ type: "function", name })) },
    anthropic: { system: [{ type: "text", text: "bash" }, { type: "text", text: "PROMPT" }], tools: [{ name: "Bash" }, { name: "Read" }] },
    google: { contents: [{ name: "bash" }], config: { systemInstruction: "PROMPT", tools: [{ functionDeclarations: names.map((name) => ({ name })) }] } },
    bedrock: { system: [{ text: "PROMPT" }], toolConfig: { tools: names.map((name) => ({ toolSpec: { name } })), toolChoice: { auto: {} } } },
  };
  const tools = {};
  for (const [form, payload] of Object.entries(forms)) {
    const whole = JSON.stringify(payload);
    const sent = (await send("before_provider_request", { payload })) ?? payload;
    if (JSON.stringify(payload) !== whole) throw new Error("pi's own request was changed");
    try {
      tools[form] = JSON.stringify(sent);
    } catch {
      tools[form] = "nothing can be sent";
    }
  }
  const before = await send("tool_call", call);
  const after = await send("tool_result", { ...given, isError: false });
  const failed = await send("tool_result", { ...given, isError: true });
  const shell = await send("user_bash", { command: "ls", excludeFromContext: false, cwd: "/" });
  await send("turn_end", { turnIndex: 0, message: { stopReason: "stop", usage: { input: 1.5 } }, toolResults: [] });
  await send("agent_end", { messages: [] });
  await send("session_shutdown", { reason: "quit" });
  const shown = (patch) => JSON.stringify(patch ? { content: patch.content, details: patch.details } : given);
  return {
    message: message.action === "continue",
    call: before?.block ? before.reason : "",
    ran: before?.block ? "" : JSON.stringify(call.input),
    result: shown(after),
    failed: shown(failed),
    shell: shell === undefined,
    tools,
    aborted,
  };
}

async function driveOpencode() {
  const client = {
    session: {
      get: async ({ path }) => ({ data: { id: path.id, directory: "/home/dev/project" } }),
      messages: async () => ({ data: [] }),
    },
  };
  const hooks = await plugin.Floodmark({ client });
  await hooks.config({ mcp: { everything: {} }, enabled_providers: ["floodmark:*"] });
  const does = (work) => work.then(() => "", (err) => String(err.message));
  const call = { tool: "bash", sessionID: "s", callID: "c" };
  const args = { command: "ls", timeout: 7 };
  const parts = [{ type: "text", text: "hi" }];
  const message = await does(hooks["chat.message"]({ sessionID: "s" }, { parts }));
  const before = await does(hooks["tool.execute.before"](call, { args }));
  const ran = before ? "" : JSON.stringify(args);
  const output = { title: "RESULT", output: "RESULT", content: [{ type: "text", text: "RESULT" }], metadata: { x: "RESULT" } };
  await hooks["tool.execute.after"]({ ...call, args }, output);
  await does(hooks["tool.execute.before"]({ ...call, callID: "d" }, { args }));
  const messages = [{ parts: [{ type: "tool", callID: "d", state: { status: "error", error: "RESULT" } }] }];
  const transform = () => hooks["experimental.chat.messages.transform"]({}, { messages });
  await transform();
  const failed = messages[0].parts[0].state.error;
  messages[0].parts[0].state.error = "RESULT"; // opencode reads it anew each time
  await transform();
  const shell = await does(hooks["shell.env"]({ cwd: "/", sessionID: "s", callID: "e" }, { env: {} }));
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } });
  return {
    message: message === "",
    call: before,
    ran,
    result: JSON.stringify(output),
    // A call that did not run cannot fail.
    failed: before === "" ? failed + messages[0].parts[0].state.error : before,
    shell: shell === "",
  };
}

async function driveOpenclaw() {
  const hooks = {};
  let middleware;
  const most = process.env.FLOODMARK_HOOK_DEADLINE === "20s" ? 40_000 : 600;
  plugin.default.register({
    on: (name, handler) => (hooks[name] = handler),
    registerAgentToolResultMiddleware: (handler) => (middleware = handler),
    rootDir: process.env.DRIVE_PLUGIN,
    config: { plugins: { entries: { floodmark: { hooks: { timeouts: { reply_payload_sending: most } } } } } },
  });
  const ctx = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", trigger: "user" };
  const call = { toolName: "exec", toolCallId: "c" };
  const args = { command: "ls", timeout: 7 };
  const given = { ...call, args, result: { content: [{ type: "text", text: "RESULT" }], details: { x: "RESULT" } } };
  await hooks.before_prompt_build({ prompt: "hi", messages: [] }, ctx);
  const message = await hooks.before_agent_run({ prompt: "hi", messages: [], senderIsOwner: true }, ctx);
  hooks.llm_input({ tools: [{ name: "exec" }, { name: "read" }] }, ctx);
  const before = await hooks.before_tool_call({ ...call, params: args }, ctx);
  const after = await middleware({ ...given, isError: false }, ctx);
  const failed = await middleware({ ...given, isError: true }, ctx);
  // There is no command of the person's; a turn without tools is as closed.
  const tools = await hooks.before_prompt_build({ prompt: "hi", messages: [] }, { ...ctx, runId: "next" });
  await hooks.agent_end({}, ctx);
  const answers = {};
  for (const [name, chat, isGroup] of [["owner", "111", false], ["group", "-7", true]]) {
    const place = { ...ctx, sessionKey: `agent:main:${name}`, runId: name, channel: "telegram", senderId: "111", chatId: chat };
    const from = { channelId: "telegram", conversationId: chat, messageId: "m", senderId: "111", sessionKey: place.sessionKey };
    hooks.before_dispatch({ content: "hi", channel: "telegram", sessionKey: place.sessionKey, messageId: "m", senderId: "111", isGroup }, from);
    await hooks.before_prompt_build({ prompt: "hi", messages: [] }, place);
    await hooks.before_agent_run({ prompt: "hi", messages: [], senderIsOwner: true }, place);
    const says = async (kind, to) => {
      const payload = { text: "ANSWER ![x](http://x.example)", mediaUrls: ["https://x.example/q"] };
      const asked = hooks.reply_payload_sending({ kind, payload, channel: "telegram", sessionKey: place.sessionKey, runId: name }, { ...from, runId: name, ...to });
      // OpenClaw waits no longer, and sends what it has.
      const out = await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, most).unref())]);
      const sent = out?.payload ?? payload;
      return out?.cancel ? "nothing" : sent.text + (sent.mediaUrls ? " LOADS" : "");
    };
    answers[`${name} block`] = await says("block");
    await hooks.agent_end({}, place);
    answers[`${name} elsewhere`] = await says("block", { messageId: undefined, conversationId: "telegram:-9" });
    answers[`${name} final`] = await says("final");
  }
  await hooks.session_end({}, ctx);
  return {
    answers,
    message: message?.outcome === "pass",
    call: before?.block ? before.blockReason : "",
    ran: before?.block ? "" : JSON.stringify(before?.params ?? args),
    result: JSON.stringify(after?.result ?? given.result),
    failed: JSON.stringify(failed?.result ?? given.result),
    shell: tools?.toolsAllow?.length !== 0,
    tools: { openclaw: JSON.stringify(tools?.toolsAllow ?? ["exec", "read"]) },
  };
}
