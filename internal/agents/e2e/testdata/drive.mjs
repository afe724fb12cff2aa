// Drives the shim without pi: node drive.mjs JITI SHIM prints what each of its
// handlers answers, as one JSON object.
import { pathToFileURL } from "node:url";

const [, , jitiPath, shim] = process.argv;
const { createJiti } = await import(pathToFileURL(jitiPath).href);
const handlers = {};
const extension = await createJiti(import.meta.url).import(shim, { default: true });
extension({ on: (name, handler) => (handlers[name] = handler) });

const ctx = {
  cwd: "/home/dev/project",
  hasUI: false,
  sessionManager: { getEntries: () => [], getSessionId: () => "s" },
};
const call = { toolName: "bash", toolCallId: "c", input: { command: "ls" } };
const events = {
  session_start: { type: "session_start", reason: "startup" },
  input: { type: "input", text: "hi", source: "interactive" },
  tool_call: { type: "tool_call", ...call },
  tool_result: { type: "tool_result", ...call, content: [{ type: "text", text: "RESULT" }], details: { x: 1 }, isError: false },
  user_bash: { type: "user_bash", command: "ls", excludeFromContext: false, cwd: "/" },
  agent_end: { type: "agent_end", messages: [] },
  session_shutdown: { type: "session_shutdown", reason: "quit" },
};
const answers = {};
for (const [name, event] of Object.entries(events)) answers[name] = (await handlers[name](event, ctx)) ?? null;
process.stdout.write(JSON.stringify(answers));
