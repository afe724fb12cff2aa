// Pictures of every page, in every state, wide and narrow, light and dark.
//
//   npm run build && node dev/shots.mjs FOLDER [word]     only pictures with the word in their name
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { serve } from './fake.mjs';

const [folder = 'shots', only = ''] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const addresses = { now: '#/now', sessions: '#/session', session: '#/session/s-ledger', 'session-500': '#/session/s-site', 'session-5000': '#/session/s-deploy', rules: '#/rules', 'rules-wrong': '#/rules', 'rules-tried': '#/rules', 'rules-words': '#/rules', 'rules-changed': '#/rules', 'rules-story': '#/rules', 'rules-version': '#/rules', did: '#/did', 'did-month': '#/did/30' };
let wrong = 0;

/** What is done on the page of rules before the picture. */
const field = (page) => page.getByLabel('The text of the rules');
const replace = (page, from, to) => field(page).evaluate((el, [a, b]) => {
  el.value = el.value.replace(a, b);
  el.dispatchEvent(new Event('input', { bubbles: true }));
}, [from, to]);
const tried = async (page) => {
  await replace(page, 'untrusted: confirm}', 'untrusted: allow}');
  await page.getByRole('button', { name: /What would/ }).click();
  await page.getByText('judged again').waitFor();
};
const acts = {
  'rules-wrong': async (page) => {
    await replace(page, 'untrusted: confirm}', 'untrusted: alow}\nworkspaces: []');
    await page.getByText(/errors?: /).first().waitFor();
  },
  'rules-tried': tried,
  'rules-words': async (page) => {
    await field(page).evaluate((el) => el.setSelectionRange(el.value.indexOf('send:') + 7, el.value.indexOf('send:') + 7));
    await field(page).focus();
    await page.keyboard.type('lo');
    await page.keyboard.press('Tab');
    await page.waitForTimeout(100);
  },
  'rules-changed': async (page, fake) => {
    await tried(page);
    Object.assign(fake.desk.file, { text: fake.desk.file.text.replace('docs.example', 'docs.firm.example'), digest: `other-${Math.random()}` });
    await page.getByRole('button', { name: /^Save\. Calls/ }).click();
    await page.getByText('Not saved').waitFor();
  },
  'rules-story': async (page) => {
    await tried(page);
    await page.getByRole('button', { name: 'Copy as a test (story)' }).first().click();
    await page.getByText('This story plays').waitFor();
  },
  'rules-version': (page) => page.getByRole('button', { name: 'Show the difference' }).first().click(),
};

for (const state of ['full', 'empty', 'lost', 'broken', 'hostile', 'closed', 'locked']) {
  const fake = await serve({ state: state === 'lost' || state === 'closed' ? 'full' : state });
  for (const scheme of ['light', 'dark']) {
    for (const width of [1280, 360]) {
      for (const [name, hash] of Object.entries(addresses)) {
        const file = `${name}-${state}-${scheme}-${width}`;
        if (!file.includes(only) || (state === 'closed' && name !== 'now') || (state === 'locked' && name !== 'rules') || (name.includes('-') && state !== 'full')) continue;
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme, deviceScaleFactor: 1 });
        page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/50[0-9]|401|net::/.test(m.text()) && (wrong++, console.log(file, m.text())));
        page.on('pageerror', (e) => (wrong++, console.log(file, String(e))));
        page.on('dialog', (d) => (wrong++, console.log(file, 'A DIALOG'), d.dismiss()));
        await page.goto(state === 'closed' ? `${fake.url}#open=used` : `${fake.url}#open=example`);
        await page.waitForTimeout(400);
        if (name !== 'now') await page.evaluate((h) => (location.hash = h), hash);
        await page.waitForTimeout(500);
        if (name === 'session') await page.locator('details summary').nth(1).click({ timeout: 300 }).catch(() => undefined);
        if (name.startsWith('rules-')) await acts[name](page, fake);
        await page.waitForTimeout(150);
        await page.waitForFunction(() => !/Placing…|Drawing…/.test(document.body.innerText));
        if (state === 'lost') {
          fake.cut();
          await page.waitForTimeout(700);
        }
        await page.evaluate(() => scrollTo(0, 0));
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) (wrong++, console.log(file, `is ${over} px too wide`));
        await page.screenshot({ path: `${folder}/${file}.png`, fullPage: true });
        fake.mend();
        fake.desk.reset();
        await page.close();
      }
    }
  }
  fake.close();
}
await browser.close();
if (wrong > 0) process.exit(1);
