// The page Session against examples: the way to a stopped call, by key and by list, vouching,
// undo, the file of the drawing, and hostile text.
//
//   npm run build && node --test e2e/session.mjs
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { serve } from '../dev/fake.mjs';
import { open } from './open.mjs';

async function with_(options, act) {
  const fake = await serve(options);
  const { browser, page, wrong } = await open(`${fake.url}#open=example`, options);
  page.setDefaultTimeout(10_000);
  try {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate((id) => (location.hash = `#/session/${id}`), options.session ?? 's-ledger');
    if (options.state !== 'empty') await page.getByRole('button', { name: 'Save as SVG', disabled: false }).waitFor();
    await page.waitForTimeout(300);
    await act({ fake, page, said: page.locator('.said') });
    assert.deepEqual(wrong, []);
  } finally {
    await browser.close();
    fake.close();
  }
}

test('by key: the next stopped call, its way in a sentence, and why', () =>
  with_({}, async ({ page, said }) => {
    await page.getByRole('application').focus();
    await page.keyboard.press('s');
    await said.getByText('came from').waitFor();
    await page.keyboard.press('ArrowLeft');
    await said.getByText(/^Read/).waitFor();
    await said.getByText('came from').waitFor(); // the source is on the same way
    await page.keyboard.press('s');
    await page.keyboard.press('Enter');
    await page.getByText('What it wanted').waitFor();
    await page.getByRole('application').focus();
    await page.keyboard.press('Escape');
    await said.getByText('Point at something').waitFor();
  }));

test('a group unfolds by key and folds again', () =>
  with_({ session: 's-deploy' }, async ({ page, said }) => {
    await page.getByRole('application').focus();
    await page.keyboard.press('Home');
    await said.getByRole('button', { name: /^Unfold these/ }).waitFor();
    await page.keyboard.press('Enter');
    await said.getByRole('button', { name: 'Fold again' }).waitFor();
    await page.keyboard.press('Backspace');
    await said.getByRole('button', { name: /^Unfold these/ }).waitFor();
  }));

test('the list says the same as the drawing, and is what a phone shows first', () =>
  with_({ width: 360 }, async ({ page }) => {
    const list = page.getByRole('region', { name: /^What was read and done/ });
    assert.equal(await list.locator('li.stopped .way').count(), 2);
    await list.getByRole('button', { name: /^Why ?, git push/ }).click();
    await page.getByText('What it wanted').waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  }));

test('vouching says first how far the mark may rise, then what it is', () =>
  with_({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Trust it…' }).first().click();
    const group = page.getByRole('group', { name: 'What that changes' });
    await group.getByText(/^The session's mark (stays|becomes)/).waitFor();
    await group.getByRole('button', { name: 'Trust this source' }).click();
    await group.getByText("The session's mark is now").waitFor();
    await page.getByRole('button', { name: 'Take back…' }).click();
    await group.getByText(/^The session's mark (stays|becomes)/).waitFor();
    await page.getByRole('button', { name: 'Take it back' }).click();
    await page.getByText("The session's mark is now").waitFor();
  }));

test('undo says what comes back before anything does', () =>
  with_({}, async ({ page }) => {
    const asked = [];
    page.on('request', (r) => r.url().endsWith('/Undo') && asked.push(JSON.parse(r.postData())));
    await page.getByRole('button', { name: 'See what can be undone' }).click();
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByText('would be as before').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Put them back' }).count(), 0); // a file would be lost
    await page.getByRole('button', { name: 'Put the old ones beside' }).click();
    assert.ok(asked.every((r) => !r.session || r.dryRun));
    await page.getByRole('button', { name: 'Put them back' }).click();
    await page.getByText('are as they were before').waitFor();
    assert.deepEqual(asked.filter((r) => r.session && !r.dryRun), [{ session: 's-ledger', call: 'call-33', beside: true }]);
  }));

test('a change is heard and drawn', () =>
  with_({}, async ({ page, fake }) => {
    const before = await page.locator('.sum').innerText();
    const show = fake.data.show;
    fake.data.show = (id) => ({ ...show(id), session: { ...show(id).session, decisions: '777' } });
    fake.say({ session: 's-ledger', decided: { id: 's-ledger#900', action: { kind: 'call-tool' } } });
    await page.getByText('777 calls').waitFor();
    assert.notEqual(before, await page.locator('.sum').innerText());
  }));

test('hostile text runs nothing, in the page and in the file', () =>
  with_({ state: 'hostile' }, async ({ page }) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as SVG' }).click()]);
    const svg = await readFile(await file.path(), 'utf8');
    assert.deepEqual([...new Set([...svg.matchAll(/<\/?([^\s>/]+)/g)].map((m) => m[1]))].sort(), ['g', 'path', 'rect', 'svg', 'text', 'title']);
    const blank = await (await page.context().browser().newContext()).newPage(); // here the page's own policy does not stop it
    const parsed = await blank.evaluate((s) => {
      const d = new DOMParser().parseFromString(s, 'image/svg+xml');
      return [d.querySelectorAll('parsererror').length, [...d.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on|href|style/i.test(a.name))).length];
    }, svg);
    assert.deepEqual(parsed, [0, 0]);
    await page.getByRole('button', { name: 'List' }).click();
    assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main iframe').length), 0);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  }));

test('an empty session says so', () => with_({ state: 'empty', session: 's-new' }, ({ page }) => page.getByText('Nothing has come in and nothing was done yet').waitFor()));
