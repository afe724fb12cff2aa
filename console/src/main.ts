import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { hasToken, login, logout, openCode, type Brought } from './lib/api';
import { live } from './lib/live.svelte';
import { network, returned } from './lib/login';
import { start } from './lib/route.svelte';

/** brought takes the code of a link, or of a provider, out of the address. */
function brought(): Brought | undefined {
  const { hash, search } = location;
  if (!network) {
    const code = openCode(hash);
    if (code === undefined) return undefined;
    history.replaceState(null, '', '/'); // before anything else: it is a secret for a minute
    return { code };
  }
  if (search !== '') history.replaceState(null, '', `/${hash}`);
  const back = returned(search);
  if (back?.page) history.replaceState(null, '', `/${back.page}`);
  return back?.brought;
}

async function main(): Promise<void> {
  let code: Brought | undefined;
  let wrong: unknown;
  try {
    code = brought();
  } catch (e) {
    wrong = e;
  }
  start();
  // A token that no page holds any more ends at the daemon, too.
  if (network) addEventListener('pagehide', () => void (hasToken() && logout().catch(() => undefined)));
  const target = document.getElementById('app') as HTMLElement;
  target.replaceChildren(); // what stood there until the code was read
  mount(App, { target });
  try {
    if (wrong !== undefined) throw wrong;
    if (code !== undefined) await login(code);
    if (hasToken()) live.start();
    else live.close('');
  } catch (e) {
    live.close(e instanceof Error ? e.message : String(e));
  }
}

void main();
