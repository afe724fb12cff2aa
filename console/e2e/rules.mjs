// The pages Rules and «What it did» against examples: what can be saved and what cannot, what is
// kept, and that axe finds nothing serious on them.
//
//   npm run build && node --test e2e/rules.mjs
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { serve } from '../dev/fake.mjs';
import { open } from './open.mjs';

const axe = createRequire(import.meta.url)('axe-core');

async function with_(options, act) {
  const fake = await serve({ pace: 20, ...options });
  const { browser, page, wrong } = await open(`${fake.url}#open=example`, options);
  try {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate((h) => (location.hash = h), options.hash ?? '#/rules');
    await page.getByRole('heading', { level: 1, name: options.hash ? /did/ : 'Rules' }).waitFor();
    await act({ fake, page, field: page.getByLabel('The text of the rules') });
    assert.deepEqual(wrong, []);
  } finally {
    await browser.close();
    fake.close();
  }
}
const button = (page, name) => page.getByRole('button', { name });
async function write(field, from, to) {
  await field.fill((await field.inputValue()).replace(from, to));
}
async function serious(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`);
}

test('a text with an error cannot be saved, and says where it is wrong', () =>
  with_({}, async ({ page, field, fake }) => {
    const before = fake.desk.file.text;
    await write(field, 'untrusted: confirm}', 'untrusted: alow}');
    await page.getByText('1 error: it has to be mended').waitFor();
    assert.equal(await button(page, 'Save without trying').count(), 0);
    assert.equal(await button(page, /What would/).isDisabled(), true);
    await field.focus();
    await page.keyboard.press('Control+s');
    await button(page, 'line 14').click();
    assert.equal(await field.evaluate((el) => el.value.slice(el.selectionStart, el.selectionEnd)), 'alow}');
    await write(field, 'alow', 'allow');
    await page.getByText('No errors.').waitFor();
    assert.equal(fake.desk.file.text, before);
  }));

test('what would have been let through is shown before saving, and saving keeps the old text', () =>
  with_({}, async ({ page, field, fake }) => {
    await write(field, 'untrusted: confirm}', 'untrusted: allow}');
    await page.getByText('No errors.').waitFor();
    assert.equal(await button(page, /^Save$/).count(), 0);
    await button(page, /What would/).click();
    await page.getByText('these 3 calls would have gone through:').waitFor();
    assert.match(await page.locator('.loud').innerText(), /git push -u origin fix-rounding/);
    assert.equal(await page.locator('.loud a').first().getAttribute('href'), '#/session/s-ledger');
    await button(page, 'Save. Calls like these 3 will run from now on').click();
    await page.getByText('Saved. These rules hold from now on').waitFor();
    assert.match(fake.desk.file.text, /untrusted: allow}/);
    await page.getByText('replaced by anna').nth(2).waitFor();
    await button(page, 'Show the difference').first().click();
    await button(page, 'Roll back to it').click();
    await button(page, 'Yes, these rules hold from now on').click();
    await page.getByText('Rolled back.').waitFor();
    assert.match(fake.desk.file.text, /untrusted: confirm}/);
  }));

test('calls of which it cannot be told are no green light', () =>
  with_({}, async ({ page, field }) => {
    await write(field, 'send: {external: confirm, untrusted: confirm}', 'send: {local: allow, shared: allow, external: allow, untrusted: confirm}');
    await page.getByText('No errors.').waitFor();
    await button(page, /What would/).click();
    await page.getByText('of 3 calls it cannot be told: they may get further').waitFor();
    const said = await page.locator('.trial').innerText();
    assert.doesNotMatch(said, /no call/);
    assert.equal(said.split('that the journal does not hold').length, 2, 'the reason is told once');
    assert.equal(await page.locator('.trial .none').count(), 0);
    assert.equal(await button(page, /^Save$/).count(), 0);
    await button(page, 'Save. 3 calls of which it cannot be told may get further').click();
    await page.getByText('Saved.').waitFor();
  }));

test('without a file there is no error, a first text is offered, and it can be taken back', () =>
  with_({ state: 'empty' }, async ({ page, field, fake }) => {
    await page.getByText('No rules of your own to check.').waitFor();
    assert.equal(await page.getByText(/1 error/).count(), 0);
    assert.deepEqual(await serious(page), []);
    await button(page, 'Begin with the profile').click();
    await page.getByText('No errors.').waitFor();
    assert.match(await field.inputValue(), /^version: 1\nprofile: coding\n/);
    await button(page, 'Save without trying').click();
    await page.getByText('Saved.').waitFor();
    await page.getByText('No file, the profile alone, until').waitFor();
    await button(page, 'Show the difference').click();
    await button(page, 'Roll back to it').click();
    await button(page, 'Yes, remove my file').click();
    await page.getByText('Rolled back.').waitFor();
    assert.equal(fake.desk.file.missing, true);
    await page.getByText('You have no rules of your own').waitFor();
  }));

test('a change after the trial asks for another one, and a trial can be ended', () =>
  with_({ pace: 400 }, async ({ page, field }) => {
    await write(field, '- ~/src/site', '- ~/src/other');
    await page.getByText('No errors.').waitFor();
    await button(page, /What would/).click();
    await page.getByText('Trying it on').waitFor();
    await button(page, 'Cancel').click();
    await page.getByText('Cancelled after').waitFor();
    assert.equal(await button(page, /^Save$/).count(), 0);
    await button(page, /What would/).click();
    await button(page, /^Save$/).waitFor();
    await write(field, '~/src/other', '~/src/more');
    await button(page, /What would/).waitFor();
    assert.equal(await button(page, /^Save$/).count(), 0);
  }));

test('a file that was changed meanwhile is not replaced, and no text is lost', () =>
  with_({}, async ({ page, field, fake }) => {
    await write(field, '- ~/src/site', '- ~/src/mine');
    await page.getByText('No errors.').waitFor();
    Object.assign(fake.desk.file, { text: fake.desk.file.text.replace('docs.example', 'docs.firm.example'), digest: 'other' });
    await button(page, 'Save without trying').click();
    await page.getByText('The file was changed meanwhile').waitFor();
    assert.match(await field.inputValue(), /src\/mine/);
    assert.doesNotMatch(fake.desk.file.text, /src\/mine/);
    await button(page, /^Keep my text/).click();
    await button(page, 'Save without trying').click();
    await page.getByText('Saved.').waitFor();
    assert.match(fake.desk.file.text, /src\/mine/);
  }));

test('the text outlives another page and a reload', () =>
  with_({}, async ({ page, field }) => {
    await write(field, '- ~/src/site', '- ~/src/kept');
    await page.getByText('No errors.').waitFor();
    await page.getByRole('link', { name: /^Now/ }).click();
    await page.getByRole('heading', { name: /questions for you/ }).waitFor();
    await page.getByRole('link', { name: 'Rules' }).click();
    assert.match(await field.inputValue(), /src\/kept/);
    page.removeAllListeners('dialog');
    page.on('dialog', (d) => d.accept()); // the browser asks before it drops a text
    await page.reload();
    await page.getByRole('link', { name: 'Rules' }).click();
    await page.getByText('It is still here').waitFor();
    assert.match(await field.inputValue(), /src\/kept/);
  }));

test('the editor is worked by keys: words, Tab, and Escape to leave', () =>
  with_({}, async ({ page, field }) => {
    await field.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('agents');
    await page.keyboard.press('Escape');
    await page.keyboard.type(':\npi:\nrul');
    await page.getByRole('option', { name: 'rules' }).waitFor();
    await page.keyboard.press('Tab');
    assert.match(await field.inputValue(), /agents:\n {2}pi:\n {4}rules:\n {6}- $/);
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^when/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    assert.match(await field.inputValue(), /- {3}$/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    assert.equal(await field.evaluate((el) => document.activeElement === el), false);
  }));

test('rules of a fleet are read and not changed', () =>
  with_({ state: 'locked' }, async ({ page, field }) => {
    await page.getByText('this machine has the rules of its fleet').waitFor();
    assert.equal(await field.getAttribute('readonly') !== null, true);
    assert.equal(await button(page, /Save|What would/).count(), 0);
    assert.deepEqual(await serious(page), []);
  }));

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing serious on the rules, ${scheme}`, () =>
    with_({ scheme }, async ({ page, field }) => {
      assert.deepEqual(await serious(page), []);
      await write(field, 'untrusted: confirm}', 'untrusted: alow}');
      await page.getByText('1 error: it has to be mended').waitFor();
      assert.deepEqual(await serious(page), []);
      await write(field, 'alow', 'allow');
      await page.getByText('No errors.').waitFor();
      await button(page, /What would/).click();
      await page.getByText('these 3 calls would have gone through:').waitFor();
      await button(page, 'Show as a test').first().click();
      await page.getByText('This story plays').waitFor();
      assert.doesNotMatch(await page.locator('.story .lines').innerText(), /⏎/);
      await page.getByText('What the profile coding says').click();
      await page.getByRole('table').waitFor();
      await button(page, 'What I changed').click();
      await field.focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.press('Control+Space');
      await page.getByRole('listbox').waitFor();
      assert.deepEqual(await serious(page), []);
    }));
  test(`axe finds nothing serious on what it did, ${scheme}`, () =>
    with_({ scheme, hash: '#/did/30', width: scheme === 'dark' ? 360 : 1280 }, async ({ page }) => {
      await page.getByText('This is a part.').waitFor();
      await page.getByText('As a table').click();
      assert.deepEqual(await serious(page), []);
    }));
}

test('a decision is found by keys alone, and its session opens at it', () =>
  with_({ hash: '#/did/7', width: 360 }, async ({ page, fake }) => {
    const words = page.getByLabel('Words of the call');
    await words.focus();
    await page.keyboard.type('npm');
    await page.keyboard.press('Enter');
    await page.getByText('3 decisions found in 214 sessions').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByLabel('The answer').selectOption('yes');
    await page.getByLabel('By (name').fill('ANNA');
    await page.keyboard.press('Enter');
    await page.getByText('1 decision found in 214 sessions').waitFor();
    assert.match(await page.locator('main .answer').innerText(), /^yes\s+by anna \(console\), after 40 s$/);
    await page.getByLabel('The answer').selectOption('none');
    await page.getByLabel('By (name').fill('');
    await words.fill('');
    await page.getByLabel('When').selectOption('at any time');
    await button(page, 'Search').click();
    await page.getByText('no answer, so no').waitFor();
    await button(page, 'Search older sessions').waitFor();
    await words.fill('fix-rounding');
    await page.keyboard.press('Enter');
    await page.getByText('1 decision found').waitFor();
    assert.deepEqual(await serious(page), []);
    const link = page.getByRole('link', { name: /^Session of git push .*, at this decision$/ });
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^pi/ }).waitFor();
    assert.match(page.url(), /#\/session\/s-ledger\?at=41$/);
    await page.waitForFunction(() => document.querySelector('main [aria-expanded=true]') !== null);
    assert.equal(fake.asked.filter((m) => m === 'OwnerService/Why').length, 1);
  }));
