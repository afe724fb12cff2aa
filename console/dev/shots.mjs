// Pictures of every page, in every state, wide and narrow, light and dark.
//
//   npm run build && node dev/shots.mjs FOLDER [word]     only pictures with the word in their name
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { serve } from './fake.mjs';

const [folder = 'shots', only = ''] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const addresses = { now: '#/now', sessions: '#/session', session: '#/session/s-ledger', 'session-500': '#/session/s-site', 'session-5000': '#/session/s-deploy' };
let wrong = 0;

for (const state of ['full', 'empty', 'lost', 'broken', 'hostile', 'closed']) {
  const fake = await serve({ state: state === 'lost' || state === 'closed' ? 'full' : state });
  for (const scheme of ['light', 'dark']) {
    for (const width of [1280, 360]) {
      for (const [name, hash] of Object.entries(addresses)) {
        const file = `${name}-${state}-${scheme}-${width}`;
        if (!file.includes(only) || (state === 'closed' && name !== 'now') || (state !== 'full' && /-/.test(name))) continue;
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme, deviceScaleFactor: 1 });
        page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/50[0-9]|401|net::/.test(m.text()) && (wrong++, console.log(file, m.text())));
        page.on('pageerror', (e) => (wrong++, console.log(file, String(e))));
        page.on('dialog', (d) => (wrong++, console.log(file, 'A DIALOG'), d.dismiss()));
        await page.goto(state === 'closed' ? `${fake.url}#open=used` : `${fake.url}#open=example`);
        await page.waitForTimeout(400);
        if (name !== 'now') await page.evaluate((h) => (location.hash = h), hash);
        await page.waitForTimeout(500);
        if (name === 'session') await page.locator('details summary').nth(1).click({ timeout: 300 }).catch(() => undefined);
        await page.waitForTimeout(150);
        await page.waitForFunction(() => !/Placing…|Drawing…/.test(document.body.innerText));
        if (state === 'lost') {
          fake.cut();
          await page.waitForTimeout(700);
        }
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) (wrong++, console.log(file, `is ${over} px too wide`));
        await page.screenshot({ path: `${folder}/${file}.png`, fullPage: true });
        fake.mend();
        await page.close();
      }
    }
  }
  fake.close();
}
await browser.close();
if (wrong > 0) process.exit(1);
