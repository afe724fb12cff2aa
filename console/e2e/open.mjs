// What tests in a browser share: a Chromium of Debian's, a page that is logged in, and a list of
// everything that should not happen on it.
import { chromium } from 'playwright-core';

/** launch starts the browser. */
export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** open gives a page at a link; `wrong` fills with errors, refused loads, dialogs and requests to elsewhere. */
export async function open(link, { width = 1280, scheme = 'light' } = {}) {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme });
  const wrong = [];
  const home = new URL(link).origin;
  page.on('pageerror', (e) => wrong.push(String(e)));
  page.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
  page.on('dialog', (d) => (wrong.push(`dialog: ${d.message()}`), d.dismiss()));
  page.on('request', (r) => new URL(r.url()).origin === home || r.url().startsWith('data:') || wrong.push(`asked ${r.url()}`));
  await page.goto(link);
  return { browser, page, wrong };
}
