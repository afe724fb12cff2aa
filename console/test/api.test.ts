import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as api from '../src/lib/api';

const store = new Map<string, string>();
beforeEach(() => {
  store.clear();
  vi.stubGlobal('sessionStorage', { getItem: (k: string) => store.get(k) ?? null, setItem: (k: string, v: string) => store.set(k, v), removeItem: (k: string) => store.delete(k) });
});
afterEach(() => void vi.unstubAllGlobals());

function message(flags: number, body: object): Uint8Array {
  const packed = api.envelope(body);
  packed[0] = flags;
  return packed;
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((p) => [...p]));
}

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

const answers = (...list: (() => Response)[]): ReturnType<typeof vi.fn> => {
  const f = vi.fn(() => Promise.resolve((list.length > 1 ? list.shift()! : list[0]!)()));
  vi.stubGlobal('fetch', f);
  return f;
};
const streamed = (...parts: Uint8Array[]) => (): Response => new Response(join(...parts) as Uint8Array<ArrayBuffer>, { headers: { 'Content-Type': 'application/connect+json' } });

test('a stream is the same however its bytes are cut', async () => {
  const bytes = join(message(0, { a: 'ä“”' }), message(0, {}), message(2, {}));
  for (let size = 1; size <= bytes.length; size++) {
    const got = [];
    for await (const m of api.envelopes(cut(bytes, size))) got.push([m.flags, m.text]);
    expect(got, `pieces of ${size}`).toEqual([[0, '{"a":"ä“”"}'], [0, '{}'], [2, '{}']]);
  }
});

test('a stream that ends in the middle of a message is lost, and one that is too long is refused', async () => {
  const read = async (b: Uint8Array): Promise<void> => {
    for await (const m of api.envelopes(cut(b, 4))) void m;
  };
  await expect(read(message(0, { a: 1 }).slice(0, -1))).rejects.toMatchObject({ code: 'lost' });
  await expect(read(Uint8Array.of(0, 255, 255, 255, 255, 1))).rejects.toMatchObject({ code: 'resource_exhausted' });
});

test('a stream ends with its end, with an error, or is lost', async () => {
  const read = async (): Promise<object[]> => {
    const got: object[] = [];
    for await (const m of api.stream<object>('OwnerService/Watch', {}, new AbortController().signal)) got.push(m);
    return got;
  };
  answers(streamed(message(0, { at: 'now' }), message(2, {})));
  expect(await read()).toEqual([{ at: 'now' }]);
  answers(streamed(message(2, { error: { code: 'unauthenticated', message: 'ended' } })));
  await expect(read()).rejects.toMatchObject({ code: 'unauthenticated', final: true });
  answers(streamed(message(0, {})));
  await expect(read()).rejects.toMatchObject({ code: 'lost', final: false });
  answers(streamed(message(1, {})));
  await expect(read()).rejects.toMatchObject({ code: 'internal' });
});

test('a lost stream is opened again, and not after the daemon has closed the door', async () => {
  vi.useFakeTimers();
  const said: string[] = [];
  answers(
    streamed(message(0, { at: '1' })),
    () => new Response('busy', { status: 503 }),
    streamed(message(0, { at: '2' }), message(2, { error: { code: 'unauthenticated', message: 'ended' } })),
  );
  const done = api.follow<{ at: string }>('OwnerService/Watch', {}, { live: () => said.push('live'), message: (m) => said.push(m.at), lost: (why, again) => said.push(`${why.message} ${again === undefined ? 'for good' : 'again'}`) }, new AbortController().signal);
  await vi.runAllTimersAsync();
  await done;
  vi.useRealTimers();
  expect(said).toEqual(['live', '1', 'The stream broke off. again', 'busy again', 'live', '2', 'ended for good']);
});

test('pauses grow, and end at a quarter of a minute', () => {
  expect([0, 1, 2, 3, 20].map((n) => api.pause(n, 0.5))).toEqual([500, 1000, 2000, 4000, 15_000]);
});

test('the code of a link is taken from the fragment alone', () => {
  expect(api.openCode('#open=abc_DEF-1')).toBe('abc_DEF-1');
  for (const no of ['', '#open=', '#/now', '?open=a', '#open=a b', '#open=a#open=b', `#open=${'a'.repeat(513)}`]) expect(api.openCode(no), no).toBeUndefined();
});

test('the token goes with every call but the login, and no cookie does', async () => {
  const f = answers(() => Response.json({ token: 'T', onlyShows: 'why' }), () => Response.json({}));
  await api.login({ code: 'CODE' });
  expect(api.hasToken()).toBe(true);
  expect(api.onlyShows()).toBe('why');
  await api.status();
  const [, login] = f.mock.calls[0] as [string, RequestInit];
  const [path, call] = f.mock.calls[1] as [string, RequestInit];
  expect(new Headers(login.headers).has('Authorization')).toBe(false);
  expect(path).toBe('/floodmark.v1.OwnerService/Status');
  expect(new Headers(call.headers).get('Authorization')).toBe('Bearer T');
  expect([login.credentials, call.credentials, call.redirect]).toEqual(['omit', 'omit', 'error']);
  api.forgetToken();
  expect(api.hasToken()).toBe(false);
});

test('errors say what the daemon said', async () => {
  answers(() => Response.json({ code: 'permission_denied', message: 'not you' }, { status: 403 }));
  await expect(api.status()).rejects.toMatchObject({ code: 'permission_denied', message: 'not you' });
  answers(() => Response.json({ error: 'used already' }, { status: 401 }));
  await expect(api.login({ code: 'x' })).rejects.toMatchObject({ final: true, message: 'used already' });
  answers(() => new Response('refused: an agent\n', { status: 403, headers: { 'Content-Type': 'text/plain' } }));
  await expect(api.status()).rejects.toMatchObject({ message: 'refused: an agent' });
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no')));
  await expect(api.status()).rejects.toMatchObject({ code: 'lost' });
});

test('a process that is not the owner is not asked to try again', async () => {
  answers(() => new Response('refused: an agent', { status: 403, headers: { 'Content-Type': 'text/plain' } }));
  const said: (number | undefined)[] = [];
  await api.follow('OwnerService/Watch', {}, { live: () => undefined, message: () => undefined, lost: (_, again) => said.push(again) }, new AbortController().signal);
  expect(said).toEqual([undefined]);
});

test('a stream that the daemon ends itself is not tried again: it was stopped', async () => {
  answers(() => new Response(new Uint8Array([2, 0, 0, 0, 2, 123, 125])));
  const said: [string, number | undefined][] = [];
  await api.follow('OwnerService/Watch', {}, { live: () => undefined, message: () => undefined, lost: (why, again) => said.push([why.code, again]) }, new AbortController().signal);
  expect(said).toEqual([[api.ended, undefined]]);
});

test('a caller that is not logged in is told so in plain words', async () => {
  answers(() => Response.json({ code: 'unauthenticated', message: 'nobody known: this page is not logged in, or no longer' }, { status: 401 }));
  await expect(api.status()).rejects.toMatchObject({ final: true, message: 'This page is not logged in, or no longer' });
});

test('a preview asks for a dry run, and the deed does not', async () => {
  const f = answers(() => Response.json({ done: true }));
  await api.previewEndorse('s', 'abc');
  await api.previewWithdraw('s', 'abc');
  await api.endorse('s', 'abc');
  expect(f.mock.calls.map(([path, init]) => [path, JSON.parse(init.body)])).toEqual([
    ['/floodmark.v1.OwnerService/Endorse', { session: 's', digest: 'abc', dryRun: true }],
    ['/floodmark.v1.OwnerService/Withdraw', { session: 's', digest: 'abc', dryRun: true }],
    ['/floodmark.v1.OwnerService/Endorse', { session: 's', digest: 'abc' }],
  ]);
});
