// What a reader of screens and a keyboard find: axe has nothing serious to say of any page in
// any state, and everything on Now and Session is reached and used by keys alone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { serve } from '../dev/fake.mjs';
import { launch, open } from './open.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test('axe finds nothing serious', { timeout: 600_000 }, async () => {
  const browser = await launch();
  const found = [];
  let looked = 0;
  try {
    for (const state of ['full', 'empty', 'broken', 'hostile', 'lost', 'closed']) {
      for (const [scheme, width] of [['light', 1280], ['dark', 1280], ['light', 360], ['dark', 360]]) {
        const fake = await serve({ state: ['lost', 'closed'].includes(state) ? 'full' : state });
        // axe is put into the page from here, which its Content-Security-Policy would refuse.
        const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme, bypassCSP: true, reducedMotion: 'reduce' });
        const page = await context.newPage();
        const look = async (name) => {
          const { violations } = await page.evaluate(async () => await axe.run(document, { resultTypes: ['violations'] }));
          looked++;
          for (const v of violations) if (['serious', 'critical'].includes(v.impact)) found.push(`${name}, ${state}, ${scheme}, ${width} px: ${v.id}: ${v.nodes.slice(0, 2).map((n) => `${n.target} ${n.any[0]?.message ?? ''}`).join('; ')}`);
        };
        await page.goto(`${fake.url}#open=${state === 'closed' ? 'used' : 'example'}`);
        await page.locator('main h1').first().waitFor();
        await page.evaluate(axe);
        if (state === 'lost') {
          fake.cut();
          await page.getByText('Not live.', { exact: true }).waitFor();
        }
        const links = await page.locator('nav a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
        for (const address of [...new Set(['#/now', ...links, ...(links.includes('#/session') ? ['#/session/s-ledger'] : [])])]) {
          await page.evaluate((h) => (location.hash = h), address);
          await page.locator('main h1').first().waitFor();
          await page.evaluate(() => document.querySelectorAll('main details').forEach((d) => (d.open = true)));
          const search = page.locator('form.search');
          if ((await search.count()) > 0) {
            await search.getByRole('button', { name: 'Search' }).click();
            await page.getByRole('button', { name: 'Close the list' }).waitFor();
          }
          await look(address);
          if (address === '#/now' && state === 'full') {
            await page.getByRole('button', { name: /^Trust .*…$/ }).first().click();
            await page.getByRole('button', { name: /^Always here/ }).first().click();
            await look('#/now, with steps open');
          }
        }
        await context.close();
        fake.close();
      }
    }
    console.log(`axe looked ${looked} times`);
    assert.deepEqual([...new Set(found)], []);
  } finally {
    await browser.close();
  }
});

/** reach presses Tab until the focus is back at the beginning, and gives what it met. */
async function reach(page) {
  await page.evaluate(() => {
    document.activeElement?.blur();
    globalThis.met = new Set();
    scrollTo(0, 0);
  });
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press('Tab');
    const more = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === null || e === document.body || globalThis.met.has(e)) return false;
      globalThis.met.add(e);
      const s = getComputedStyle(e);
      const seen = (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none' || e.closest('.skip, svg') !== null;
      if (!seen) (globalThis.unseen ??= []).push(e.outerHTML.slice(0, 100));
      return true;
    });
    if (!more) break;
  }
  return page.evaluate(() => {
    // One radio of a group is enough: the arrows reach the others.
    const must = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button]')].filter((e) => !e.disabled && e.checkVisibility() && e.type !== 'radio' && e.tabIndex >= 0);
    return { met: globalThis.met.size, missed: must.filter((e) => !globalThis.met.has(e)).map((e) => e.outerHTML.slice(0, 120)), unseen: globalThis.unseen ?? [], clickable: [...document.querySelectorAll('main [onclick], main .clickable')].length };
  });
}

test('everything on Now and Session is reached by Tab, and the focus is seen', async () => {
  const fake = await serve({});
  const { browser, page, wrong } = await open(`${fake.url}#open=example`, {});
  try {
    await page.locator('article').first().waitFor();
    for (const address of ['#/now', '#/session', '#/session/s-ledger']) {
      await page.evaluate((h) => (location.hash = h), address);
      await page.locator('main h1').first().waitFor();
      await page.evaluate(() => document.querySelectorAll('main details').forEach((d) => (d.open = true)));
      const { met, missed, unseen } = await reach(page);
      console.log(`${address}: ${met} places`);
      assert.deepEqual(missed, [], address);
      assert.deepEqual(unseen, [], address);
    }
    assert.deepEqual(wrong, []);
  } finally {
    await browser.close();
    fake.close();
  }
});

test('a question is answered, a source vouched for and taken back by keys alone', async () => {
  const fake = await serve({});
  const { browser, page, wrong } = await open(`${fake.url}#open=example`, {});
  /** go presses Tab until something with this name has the focus. */
  const go = async (name) => {
    for (let i = 0; i < 200; i++) {
      if (await page.evaluate((name) => new RegExp(name).test((document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()) && document.activeElement !== document.body && document.activeElement?.tagName !== 'ARTICLE', name)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`the focus never came to ${name}`);
  };
  try {
    const first = page.locator('article[data-ticket="t-push"]');
    await first.waitFor();
    await first.evaluate(() => new Promise((done) => setTimeout(done, 700))); // it has just come
    await go('held for quiet hours');
    await page.keyboard.press('Enter');
    await go('^Trust .*…$');
    await page.keyboard.press('Enter');
    await page.getByText("The session's mark would then be").waitFor();
    await go('^Trust it$');
    await page.keyboard.press('Enter');
    await page.getByText("The session's mark is now").waitFor();
    await first.focus();
    await page.keyboard.press('y');
    await first.getByText('Approved by you').waitFor();
    assert.equal(fake.answers.length, 1);
    await page.keyboard.press('j');
    await page.keyboard.press('n');
    await page.locator('article[data-ticket="t-mail"]').getByText('Denied by you').waitFor();
    await page.evaluate(() => document.querySelector('nav a[href="#/session"]').focus());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    await go('^pi$');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^pi/ }).waitFor();
    await go('^Trust…|^Trust');
    await page.keyboard.press('Enter');
    await go('^Trust this source$');
    await page.keyboard.press('Enter');
    await page.getByText('You vouch for it now.').waitFor();
    assert.deepEqual(wrong, []);
  } finally {
    await browser.close();
    fake.close();
  }
});
