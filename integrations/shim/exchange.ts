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
