import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { hasToken, login, openCode } from './lib/api';
import { live } from './lib/live.svelte';
import { start } from './lib/route.svelte';

async function main(): Promise<void> {
  const code = openCode(location.hash);
  if (code !== undefined) history.replaceState(null, '', '/'); // before anything else: it is a secret for a minute
  start();
  const target = document.getElementById('app') as HTMLElement;
  target.replaceChildren(); // what stood there until the code was read
  mount(App, { target });
  try {
    if (code !== undefined) await login(code);
    if (hasToken()) live.start();
    else live.close('');
  } catch (e) {
    live.close(e instanceof Error ? e.message : String(e));
  }
}

void main();
