// Floodmark for agents in TypeScript and JavaScript. It tells the daemon what
// happens in a conversation and does what the daemon answers. It judges
// nothing, and whatever goes wrong is a no.

export { DEFAULT_TIMEOUT, MAX_REPLY_BYTES, Monitor, type MonitorOptions, type StartOptions } from "./monitor.js";
export { type Heard, type SaidOptions, Session } from "./session.js";
export {
  type Call,
  type Content,
  type Decision,
  Denied,
  type Event,
  NO_ANSWER,
  type Origin,
  type Reply,
  type Verdict,
  Withheld,
} from "./words.js";
