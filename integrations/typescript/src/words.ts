/** The verdicts, the strictest first. Only the last is a yes. */
export const verdicts = ["restrict", "confirm", "audit", "allow"] as const;

/** A verdict. */
export type Verdict = (typeof verdicts)[number];

/** Where content came from. */
export interface Origin {
  kind: string;
  name?: string;
  server?: string;
  place?: string;
  sender?: string;
  /** Only if the channel has proved that the owner writes. */
  isOwner?: boolean;
  /** Where others can write too. */
  group?: string;
}

/** One piece of an agent's context. */
export interface Content {
  kind: string;
  origin?: Origin;
  text?: string;
  digest?: string;
  trust?: string;
}

/** One tool call. */
export interface Call {
  id?: string;
  server?: string;
  name: string;
  args?: object;
}

/** One stop of an agent; see the reference of the hook API for every field. */
export interface Event {
  point: string;
  agent: string;
  session: string;
  [field: string]: unknown;
}

/** How far an allowed call gets. */
export const reaches = ["boxed", "free"] as const;

/** A reach. */
export type Reach = (typeof reaches)[number];

/** The answer to one action. */
export interface Decision {
  verdict?: Verdict;
  /** Only a monitor from before there were boxes leaves it out: what it allows is free. */
  reach?: Reach;
  reasons?: { code: string; rule?: string; text: string; verdict?: Verdict }[];
  remedy?: { agent?: string; person?: string };
  verifiers?: string[];
  hidden?: string[];
}

/** What the agent must do. An empty reply blocks. */
export interface Reply {
  decision?: Decision;
  calls?: Decision[];
  line?: string;
  warning?: string;
  text?: string;
  footer?: string;
  ticket?: string;
  consumed?: boolean;
  notice?: string;
  blockTurn?: boolean;
  /** What would have to run in the place of the call: nothing here can do that. */
  command?: string;
}

/** What a model reads when the monitor could not be asked. */
export const NO_ANSWER =
  "the monitor did not answer, so nothing is allowed. Ask the owner to run «floodmark status», and go on without this.";

/** Something may not happen. The message is meant for the model. */
export class Denied extends Error {
  override readonly name = "Denied";
  constructor(
    line: string,
    readonly verdict: Verdict = "restrict",
    /** The question a person is being asked. After a yes the identical call passes. */
    readonly ticket = "",
    /** The whole turn has to end. */
    readonly blockTurn = false,
  ) {
    super(`floodmark: ${line}`);
  }
}

/** A tool ran, and its result is kept back: nobody would know its origin. */
export class Withheld extends Error {
  override readonly name = "Withheld";
  constructor(tool: string) {
    super(
      `floodmark: ${tool} ran, but its result was not taken in and is kept back. Ask the owner to run «floodmark status».`,
    );
  }
}

/** Whether a reply is a yes. A verifier that nobody asked has not agreed. */
export function allows(reply: Reply): boolean {
  return reply.decision?.verdict === "allow" && !reply.decision.verifiers?.length && !reply.blockTurn && !elsewhere(reply);
}

/** Why what a reply allows cannot be done here, if it cannot. Nothing here replaces a command. */
function elsewhere({ decision, calls, command }: Reply): string {
  if (decision?.verdict !== "allow") return "";
  if (command) return "it may only run as another command, which this program cannot do";
  // A reach of no text never comes here: whatever is not free is in a box.
  const boxed = (d: Decision) => d.verdict === "allow" && (d.reach ?? "free") !== "free";
  if (![decision, ...(calls ?? [])].some(boxed)) return "";
  return "it may only run in a box, and no command that starts one came with the answer";
}

/** Words a refusal. */
export function denied(reply: Reply): Denied {
  const decision = reply.decision ?? {};
  const verdict = decision.verdict ?? "restrict";
  let line = reply.line ?? "";
  const why = elsewhere(reply);
  if (why) {
    line = `refused because ${why}.`;
  } else if (verdict === "allow" && decision.verifiers?.length) {
    line = `refused because these must agree first and were not asked: ${decision.verifiers.join(", ")}.`;
  } else if (!line && decision.reasons?.[0]) {
    line = `refused because ${decision.reasons[0].text}.`;
  }
  line ||= "refused.";
  if (decision.remedy?.agent) line += ` ${decision.remedy.agent}`;
  return new Denied(line, verdict === "allow" ? "audit" : verdict, reply.ticket ?? "", reply.blockTurn === true);
}
