// The daemon, as the pages call it: the Connect protocol with JSON, over fetch. There is no
// cookie. The token that the one-time link or the login was exchanged for goes with every call, and
// lives in this tab alone.

import type * as t from './types';

/** What a stream that the daemon ended itself is told by: it does so only when it is stopped. */
export const ended = 'ended';

/** An ApiError is an answer that is not the one asked for. */
export class ApiError extends Error {
  constructor(
    /** The protocol's word, or `lost` where nothing answered. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  /** Nothing that this page repeats would be heard: it needs a new link. */
  get final(): boolean {
    return this.code === 'unauthenticated' || this.code === 'permission_denied' || this.code === ended;
  }
}

/** network says that this page came over the network, not by a link of this machine, which has no TLS. */
export const network = globalThis.location?.protocol === 'https:';

const kept = 'floodmark-token';
const keptShows = 'floodmark-only-shows';

/** held has the token of a page of the network. Browsers write their sessionStorage to the disk, where
 * an agent can read it, and over the network nothing tells which program brings a token. */
const held = new Map<string, string>();
const get = (name: string): string | null => (network ? (held.get(name) ?? null) : sessionStorage.getItem(name));
const put = (name: string, text: string): void => void (network ? held.set(name, text) : sessionStorage.setItem(name, text));

/** onlyShows is why this tab can answer and change nothing; empty if it can. */
export const onlyShows = (): string => get(keptShows) ?? '';

/** hasToken says whether this tab was logged in. */
export const hasToken = (): boolean => get(kept) !== null;

/** forgetToken ends what this tab may do. */
export const forgetToken = (): void => {
  for (const name of [kept, keptShows]) {
    held.delete(name);
    sessionStorage.removeItem(name);
  }
};

/** openCode takes the one-time code out of an address: `#open=CODE`. */
export function openCode(hash: string): string | undefined {
  return /^#open=([A-Za-z0-9_-]{1,512})$/.exec(hash)?.[1];
}

/** What a login brings: the code of a link, or of a provider with what this tab kept. */
export type Brought = { code: string; verifier?: string; nonce?: string };

/** login exchanges a code for the token of this tab. */
export async function login(brought: Brought): Promise<void> {
  const answer = await send('/login', 'application/json', JSON.stringify(brought));
  const { token, onlyShows } = (await answer.json()) as { token?: unknown; onlyShows?: unknown };
  if (typeof token !== 'string' || token === '') throw new ApiError('internal', 'The daemon sent no token.');
  put(kept, token);
  put(keptShows, typeof onlyShows === 'string' ? onlyShows : '');
}

/** begin asks where this browser logs in. */
export async function begin(leaving: { state: string; nonce: string; challenge: string }): Promise<string> {
  const answer = await send('/login/begin', 'application/json', JSON.stringify(leaving));
  const { go } = (await answer.json()) as { go?: unknown };
  if (typeof go !== 'string') throw new ApiError('internal', 'The daemon names no page to log in at.');
  return go;
}

/** logout ends the token of this tab, here and at the daemon. */
export async function logout(): Promise<void> {
  try {
    await send('/logout', 'application/json', '');
  } finally {
    forgetToken();
  }
}

async function send(path: string, type: string, body: BodyInit, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': type, 'Connect-Protocol-Version': '1' };
  const token = path.startsWith('/login') ? null : get(kept);
  if (token !== null) headers['Authorization'] = `Bearer ${token}`;
  let answer: Response;
  try {
    answer = await fetch(path, { method: 'POST', headers, body, signal: signal ?? null, credentials: 'omit', cache: 'no-store', redirect: 'error', keepalive: path === '/logout' });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new ApiError('lost', 'The daemon does not answer.');
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/** refusal reads an error of the protocol; of anything else it tells the status. */
async function refusal(answer: Response): Promise<ApiError> {
  const codes: Record<number, string> = { 401: 'unauthenticated', 403: 'permission_denied', 404: 'unimplemented', 429: 'unavailable' };
  let code = codes[answer.status] ?? 'unknown';
  let message = `The daemon answered ${answer.status}.`;
  try {
    const text = await answer.text();
    if (!answer.headers.get('Content-Type')?.startsWith('application/json')) {
      if (text.trim() !== '') message = text.trim().slice(0, 300);
    } else {
      const said = JSON.parse(text) as { code?: unknown; message?: unknown; error?: unknown };
      if (typeof said.code === 'string') code = said.code;
      const words = said.message ?? said.error; // of the protocol, or of the login
      if (typeof words === 'string' && words !== '') message = words;
    }
  } catch {
    // The status says enough.
  }
  return new ApiError(code, plainly(message));
}

/** plainly leaves out the protocol's word for a caller that is not logged in. */
const plainly = (message: string): string => {
  const said = message.replace(/^nobody known: /, '');
  return said === message ? message : said.charAt(0).toUpperCase() + said.slice(1);
};

/** call asks one thing of a service and waits for the answer. */
export async function call<Answer>(method: string, request: object, signal?: AbortSignal): Promise<Answer> {
  const answer = await send(`/floodmark.v1.${method}`, 'application/json', JSON.stringify(request), signal);
  return (await answer.json()) as Answer;
}

const endOfStream = 2;
const compressed = 1;
const longest = 32 << 20; // bytes of one message

/** envelopes cuts the bytes of a stream into messages: a byte of flags, four of length, the message. */
export async function* envelopes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<{ flags: number; text: string }> {
  let held = new Uint8Array(0);
  const utf8 = new TextDecoder();
  for await (const chunk of chunks) {
    if (held.length === 0) held = new Uint8Array(chunk);
    else {
      const both = new Uint8Array(held.length + chunk.length);
      both.set(held);
      both.set(chunk, held.length);
      held = both;
    }
    let at = 0;
    while (held.length - at >= 5) {
      const view = new DataView(held.buffer, held.byteOffset + at, 5);
      const size = view.getUint32(1);
      if (size > longest) throw new ApiError('resource_exhausted', 'The daemon sent a message that is too long.');
      if (held.length - at - 5 < size) break;
      yield { flags: view.getUint8(0), text: utf8.decode(held.subarray(at + 5, at + 5 + size)) };
      at += 5 + size;
    }
    if (at > 0) held = held.slice(at);
  }
  if (held.length > 0) throw new ApiError('lost', 'The stream broke off.');
}

async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** envelope packs the one message of a request. */
export function envelope(request: object): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const all = new Uint8Array(5 + text.length);
  new DataView(all.buffer).setUint32(1, text.length);
  all.set(text, 5);
  return all;
}

/** stream reads what a method tells, until it ends or the signal says so. */
export async function* stream<Message>(method: string, request: object, signal: AbortSignal, opened?: () => void): AsyncGenerator<Message> {
  const answer = await send(`/floodmark.v1.${method}`, 'application/connect+json', envelope(request), signal);
  if (answer.body === null) throw new ApiError('lost', 'The stream is empty.');
  opened?.();
  for await (const { flags, text } of envelopes(chunks(answer.body))) {
    if (flags & compressed) throw new ApiError('internal', 'The stream is compressed.');
    if (flags & endOfStream) {
      const { error } = JSON.parse(text || '{}') as { error?: { code?: string; message?: string } };
      if (error) throw new ApiError(error.code ?? 'unknown', plainly(error.message ?? 'The stream ended with an error.'));
      return;
    }
    yield JSON.parse(text) as Message;
  }
  throw new ApiError('lost', 'The stream broke off.');
}

/** A Follower is told what a stream says, and whether it is there. */
export interface Follower<Message> {
  /** The stream stands: from here on nothing is missed. What is shown has to be read anew. */
  live(): void;
  message(m: Message): void;
  /** The stream is gone; it is tried again after so many milliseconds, or never. */
  lost(why: ApiError, again: number | undefined): void;
}

/** How long a stream may be silent: the daemon gives a sign of life far more often. */
const silence = 45_000;

/** pause is how long to wait before the n-th try, from 0: 0.5 s, doubled, at most 15 s, each a little different. */
export const pause = (n: number, chance = Math.random()): number => Math.min(500 * 2 ** n, 15_000) * (0.75 + chance / 2);

/** follow keeps a stream open until the signal says so. */
export async function follow<Message>(method: string, request: object, to: Follower<Message>, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const one = new AbortController();
    const stop = (): void => one.abort();
    signal.addEventListener('abort', stop);
    let timer = setTimeout(stop, silence);
    let why = new ApiError(ended, 'The monitor has ended.');
    try {
      const open = (): void => {
        n = 0;
        to.live();
      };
      for await (const m of stream<Message>(method, request, one.signal, open)) {
        clearTimeout(timer);
        timer = setTimeout(stop, silence);
        to.message(m);
      }
    } catch (e) {
      why = e instanceof ApiError ? e : new ApiError('lost', 'The daemon fell silent.');
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      one.abort();
    }
    if (signal.aborted) return;
    if (why.final) {
      to.lost(why, undefined);
      return;
    }
    const again = pause(n);
    to.lost(why, again);
    await sleep(again, signal);
  }
}

/** sleep ends early when the network or the page comes back. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      globalThis.removeEventListener?.('online', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    globalThis.addEventListener?.('online', end);
  });
}

const owner = 'OwnerService/';

/** What pages ask of the owner's service. */
export const status = (): Promise<t.StatusResponse> => call(`${owner}Status`, {});
export const sessions = (r: t.SessionsRequest): Promise<t.SessionsResponse> => call(`${owner}Sessions`, r);
export const show = (r: t.ShowRequest): Promise<t.ShowResponse> => call(`${owner}Show`, r);
export const why = (of: string): Promise<t.WhyResponse> => call(`${owner}Why`, { of });
export const pending = (): Promise<t.PendingResponse> => call(`${owner}Pending`, {});
export const answer = (r: t.AnswerRequest): Promise<t.AnswerResponse> => call(`${owner}Answer`, r);
export const endorse = (session: string, digest: string): Promise<t.EndorseResponse> => call(`${owner}Endorse`, { session, digest });
export const withdraw = (session: string, digest: string): Promise<t.EndorseResponse> => call(`${owner}Withdraw`, { session, digest });
/** What endorsing or withdrawing would do; nothing is done. */
export const previewEndorse = (session: string, digest: string, signal?: AbortSignal): Promise<t.EndorseResponse> => call(`${owner}Endorse`, { session, digest, dryRun: true }, signal);
export const previewWithdraw = (session: string, digest: string, signal?: AbortSignal): Promise<t.EndorseResponse> => call(`${owner}Withdraw`, { session, digest, dryRun: true }, signal);
export const watch = (to: Follower<t.WatchResponse>, signal: AbortSignal, session = ''): Promise<void> => follow(`${owner}Watch`, { session }, to, signal);
export const undo = (r: t.UndoRequest): Promise<t.UndoResponse> => call(`${owner}Undo`, r);
export const leftovers = (r: t.LeftoversRequest): Promise<t.LeftoversResponse> => call(`${owner}Leftovers`, r);

const page = 'ConsoleService/';

/** What pages ask of the console's own service. */
export const sessionGraph = (r: t.SessionGraphRequest): Promise<t.SessionGraphResponse> => call(`${page}SessionGraph`, r);
