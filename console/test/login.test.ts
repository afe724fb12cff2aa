import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leave, returned } from '../src/lib/login';

const store = new Map<string, string>();
const gone: string[] = [];
beforeEach(() => {
  store.clear();
  gone.length = 0;
  vi.stubGlobal('sessionStorage', { getItem: (k: string) => store.get(k) ?? null, setItem: (k: string, v: string) => store.set(k, v), removeItem: (k: string) => store.delete(k) });
  vi.stubGlobal('location', { assign: (to: string) => gone.push(to) });
});
afterEach(() => void vi.unstubAllGlobals());

interface Said {
  state: string;
  nonce: string;
  challenge: string;
}

/** left begins a login in this tab, and gives what the daemon heard of it. */
async function left(go = 'https://login.example/auth?x=1', page = '#/session/s1'): Promise<Said> {
  let said: Said | undefined;
  vi.stubGlobal('fetch', (path: string, r: RequestInit) => {
    expect(path).toBe('/login/begin');
    expect(new Headers(r.headers).has('Authorization')).toBe(false);
    said = JSON.parse(r.body as string) as Said;
    return Promise.resolve(Response.json({ go }));
  });
  await leave(page);
  return said as Said;
}

test('a login draws new secrets each time, and the verifier stays in the tab', async () => {
  const one = await left();
  const { brought, page } = returned(`?code=C&state=${one.state}`)!;
  expect(gone).toEqual(['https://login.example/auth?x=1']);
  expect(page).toBe('#/session/s1');
  expect(brought).toMatchObject({ code: 'C', nonce: one.nonce });
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(brought.verifier)));
  expect(one.challenge).toBe(Buffer.from(sum).toString('base64url'));
  for (const s of [one.state, one.nonce, one.challenge, brought.verifier]) expect(s).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const two = await left();
  expect(new Set([one.state, two.state, one.nonce, two.nonce, one.challenge, two.challenge]).size).toBe(6);
});

test('what comes back is taken once, and only with the state of this tab', async () => {
  const no = (search: string): void => expect(() => returned(search), search).toThrow('not begun in this tab');
  no('?code=C&state=S');
  for (const bad of [() => '?code=C', () => '?code=C&state=', () => '?code=C&state=other', (s: string) => `?code=C&state=${s}&state=other`, (s: string) => `?error=access_denied&state=${s}x`]) {
    const { state } = await left();
    no(bad(state));
    no(`?code=C&state=${state}`); // the first try took it
  }
  const { state } = await left();
  expect(returned(`?code=C&state=${state}`)).toBeDefined();
  no(`?code=C&state=${state}`);
  expect(store.size).toBe(0);
});

test('an address that is no provider\'s changes nothing, and a refusal is told in our words', async () => {
  const { state } = await left();
  expect(returned('')).toBeUndefined();
  expect(returned('?state=x')).toBeUndefined();
  expect(store.size).toBe(1);
  expect(() => returned(`?error=access_denied&error_description=Call+555&state=${state}`)).toThrow('did not log you in (access_denied)');
  for (const more of ['code=', 'code=a&code=b', 'code=a&error=Call 555']) {
    const again = await left();
    expect(() => returned(`?${more}&state=${again.state}`)).toThrow('(no reason)');
  }
});

test('the tab goes to addresses of the web only, and comes back to pages of ours only', async () => {
  for (const go of ['javascript:alert(1)', '//evil.example', 'data:text/html,x', '']) await expect(left(go)).rejects.toThrow();
  expect(gone).toEqual([]);
  for (const page of ['', '#open=x', 'https://evil.example/', '//evil.example']) {
    const { state } = await left(undefined, page);
    expect(returned(`?code=C&state=${state}`)?.page, page).toBe('');
  }
});

test('who logs in again loses the token of before', async () => {
  store.set('floodmark-token', 'T');
  await left();
  expect(store.has('floodmark-token')).toBe(false);
});

test('over the network the token is in no storage that a browser writes to its disk', async () => {
  const sent: (string | null)[] = [];
  const answers = (token: string): void =>
    void vi.stubGlobal('fetch', (_: string, r: RequestInit) => {
      sent.push(new Headers(r.headers).get('Authorization'));
      return Promise.resolve(Response.json({ token, onlyShows: '' }));
    });
  for (const protocol of ['https:', 'http:']) {
    vi.resetModules();
    vi.stubGlobal('location', { protocol });
    const api = await import('../src/lib/api');
    answers(`fm_console_${protocol}`);
    await api.login({ code: 'C' });
    expect(api.hasToken()).toBe(true);
    expect(store.has('floodmark-token'), protocol).toBe(protocol === 'http:');
    await api.status();
    await api.logout();
    expect(api.hasToken()).toBe(false);
    expect(sent.splice(0)).toEqual([null, `Bearer fm_console_${protocol}`, `Bearer fm_console_${protocol}`]);
  }
});
