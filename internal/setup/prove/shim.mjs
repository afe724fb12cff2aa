// Loads the shim of an agent and calls what that agent calls before a tool,
// with no tool. Prints what the agent would be told.
import { pathToFileURL } from "node:url";

const [agent, file] = process.argv.slice(1);

async function ask(shim) {
  const on = {};
  const api = { on: (name, f) => (on[name] = f), registerAgentToolResultMiddleware() {} };
  if (agent === "pi") {
    shim.default(api);
    const session = { getEntries: () => [], getSessionId: () => "floodmark-canary" };
    return on.tool_call({ type: "tool_call", toolName: "", toolCallId: "canary", input: {} }, { cwd: "/", sessionManager: session });
  }
  if (agent === "openclaw") {
    shim.default.register(api);
    const told = await on.before_tool_call({ toolName: "", params: {}, toolCallId: "canary" }, { sessionKey: "floodmark", sessionId: "canary" });
    return { block: told?.block, reason: told?.blockReason };
  }
  const hooks = await shim.Floodmark({ client: {} });
  try {
    await hooks["tool.execute.before"]({ tool: "", sessionID: "floodmark-canary", callID: "canary" }, { args: {} });
  } catch (err) {
    return { block: true, reason: err.message };
  }
  return {};
}

if (!process.features.typescript) {
  console.log(JSON.stringify({ skip: true }));
} else {
  const told = await ask(await import(pathToFileURL(file)));
  console.log(JSON.stringify({ block: told?.block === true, reason: String(told?.reason ?? "") }));
}
