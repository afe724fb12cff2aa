// Logging in over the network, at the identity provider of a fleet: the authorization code flow with
// PKCE. This tab alone has what binds a login to it: the state and the nonce, which come back from
// the provider, and the verifier, without which the code is worth nothing.

import * as api from './api';

export const network = api.network;

const kept = 'floodmark-login';

interface Kept {
  state: string;
  nonce: string;
  verifier: string;
  /** The page that was looked at. */
  page: string;
}

const text = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
const draw = (): string => text(crypto.getRandomValues(new Uint8Array(32)));

/** leave goes to the provider. */
export async function leave(page: string): Promise<void> {
  const mine: Kept = { state: draw(), nonce: draw(), verifier: draw(), page };
  const challenge = text(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(mine.verifier))));
  const go = await api.begin({ state: mine.state, nonce: mine.nonce, challenge });
  if (!/^https?:\/\//.test(go)) throw new api.ApiError('internal', 'The daemon names no safe page to log in at.');
  api.forgetToken();
  sessionStorage.setItem(kept, JSON.stringify(mine));
  location.assign(go);
}

/** returned takes what the provider sent back out of an address and out of this tab. It works once, and
 * only where the login was begun. Nothing is returned if the address is not one of a provider. */
export function returned(search: string): { brought: api.Brought; page: string } | undefined {
  const said = new URLSearchParams(search);
  if (!said.has('code') && !said.has('error')) return undefined;
  const before = sessionStorage.getItem(kept);
  sessionStorage.removeItem(kept);
  const mine = (before === null ? {} : JSON.parse(before)) as Partial<Kept>;
  if (!mine.state || !mine.nonce || !mine.verifier || said.getAll('state').length !== 1 || said.get('state') !== mine.state) {
    throw new api.ApiError('unauthenticated', 'This login was not begun in this tab, or it is over. Log in again.');
  }
  const code = said.getAll('code');
  if (said.has('error') || code.length !== 1 || !code[0]) {
    const why = /^[a-z_]{1,40}$/.exec(said.get('error') ?? '')?.[0] ?? 'no reason';
    throw new api.ApiError('unauthenticated', `The identity provider did not log you in (${why}).`);
  }
  return { brought: { code: code[0], verifier: mine.verifier, nonce: mine.nonce }, page: /^#\/[a-z]/.test(mine.page ?? '') ? (mine.page ?? '') : '' };
}
