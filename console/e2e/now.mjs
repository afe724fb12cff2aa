// The page Now against examples: answering by key and by click, and what must not answer.
//
//   npm run build && node --test e2e/
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../dev/fake.mjs';
import { open } from './open.mjs';

async function with_(options, act) {
  const fake = await serve(options);
  const { questions } = fake.data;
  for (let i = questions.length; i < (options.many ?? 0); i++) questions.push({ ...questions[0], ticket: `t-${i}` });
  if (options.long) questions[0].calls[0].diff.push(`  + ${'x'.repeat(options.long - 4)}`);
  const { browser, page, wrong } = await open(`${fake.url}#open=example`, options);
  try {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await act({ fake, page, browser, card: (t) => page.locator(`article[data-ticket="${t}"]`) });
    assert.deepEqual(wrong, []);
  } finally {
    await browser.close();
    fake.close();
  }
}
/** settled waits until every card takes a yes: one that has just come or moved does not. */
const settled = (page) => page.waitForFunction(() => document.querySelector('article[data-ticket]') && !document.querySelector('article button[aria-disabled="true"]'));
/** quiet waits until an answer that was given would have been sent. */
const quiet = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
/** still stops the clock of the page: what follows comes too soon, however slow the machine is. */
async function still(page) {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 5_000);
}
/** until lets the stopped clock go on in small steps, until something that the daemon said is there. */
async function until(page, what) {
  while (!(await what.isVisible())) await page.clock.runFor(50);
}
/** later lets the stopped clock go on for as long as a card takes no yes. */
const later = (page) => page.clock.runFor(700);

test('the code is out of the address at once', () =>
  with_({}, async ({ page }) => {
    assert.ok(!page.url().includes('open='));
    await page.reload();
    await page.getByRole('heading', { name: '3 questions for you' }).waitFor();
    assert.match(await page.title(), /^\(3\) Now/);
    assert.ok((await page.locator('link[rel=icon]').getAttribute('href')).includes('>3<'));
  }));

test('y and n answer the card that has the focus, and nothing else does', () =>
  with_({}, async ({ page, fake, card }) => {
    await settled(page);
    await page.keyboard.press('y');
    await page.keyboard.press('n');
    await quiet(page);
    assert.equal(fake.answers.length, 0);
    await page.keyboard.press('j');
    await page.keyboard.press('y');
    await card('t-push').getByText('Approved by you').waitFor();
    assert.deepEqual(fake.answers, [{ verb: 'approve', session: 's-ledger', ticket: 't-push', calls: 1, offer: 0, seen: 'seen-push' }]);
    await page.keyboard.press('y'); // the next card was not looked at
    await quiet(page);
    assert.equal(fake.answers.length, 1);
    await page.keyboard.press('j');
    await page.keyboard.press('y'); // it wants to know where it goes
    await quiet(page);
    assert.equal(fake.answers.length, 1);
    await page.keyboard.press('n');
    await card('t-mail').getByText('Denied by you').waitFor();
  }));

test('what is picked is sent', () =>
  with_({}, async ({ page, fake, card }) => {
    await settled(page);
    await card('t-mail').getByRole('radio').nth(0).check();
    await card('t-mail').getByRole('button', { name: /^Yes/ }).click();
    await card('t-mail').getByText('Approved by you').waitFor();
    assert.equal(fake.answers[0].picked, 'vera@supplier.example');
  }));

test('always is asked twice, and says what it covers', () =>
  with_({ width: 360 }, async ({ page, fake, card }) => {
    await settled(page);
    await still(page);
    await card('t-push').getByRole('button', { name: /^Always here/ }).click();
    await card('t-push').getByText('It covers').waitFor();
    assert.equal(fake.answers.length, 0);
    await card('t-push').getByRole('button', { name: 'Yes, do not ask again' }).dispatchEvent('click'); // the second of two clicks
    await card('t-push').getByText('Look again').waitFor();
    assert.equal(fake.answers.length, 0);
    await later(page);
    await card('t-push').getByRole('button', { name: 'Yes, do not ask again' }).click();
    await card('t-push').getByText('Approved by you').waitFor();
    assert.equal(fake.answers[0].offer, 3);
  }));

test('a card answered elsewhere says who it was, and so does the tab that came too late', () =>
  with_({}, async ({ page, fake, card, browser }) => {
    await settled(page);
    fake.data.questions.shift();
    fake.say({ session: 's-ledger', answered: { ticket: 't-push', verdict: 'restrict', by: 'boris', channel: 'telegram' } });
    await card('t-push').getByText('Denied by boris (telegram)').waitFor();
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${fake.url}#open=example`);
    await other.locator('article[data-ticket="t-two"]').waitFor();
    await settled(other);
    await other.locator('article[data-ticket="t-two"]').getByRole('button', { name: /^Yes/ }).click();
    await card('t-two').getByText('Approved by anna (console)').waitFor();
  }));

test('a question appears at once, and a yes that was meant for something else is not taken', () =>
  with_({}, async ({ page, fake, card }) => {
    await settled(page);
    await still(page);
    const q = { ticket: 't-new', session: 's-site', agent: 'gemini', asked: new Date().toISOString(), expires: new Date(Date.now() + 60_000).toISOString(), seen: 'x', calls: [{ what: 'gemini wants to run: “make”', why: 'Your rules ask.', offers: [{ words: 'this call, once', scope: 'once' }] }] };
    fake.data.questions.unshift(q);
    fake.say({ session: 's-site', asked: q });
    await until(page, card('t-new'));
    await card('t-new').focus();
    await page.keyboard.press('y');
    await card('t-new').getByText('Look again').waitFor();
    assert.equal(fake.answers.length, 0);
  }));

test('a question that ends moves those below it, and they take no yes that was meant for it', () =>
  with_({}, async ({ page, fake, card }) => {
    await settled(page);
    await card('t-mail').getByRole('radio').nth(0).check();
    await still(page);
    fake.data.questions.shift();
    fake.say({ session: 's-ledger', answered: { ticket: 't-push', verdict: 'restrict', by: 'boris', channel: 'telegram' } });
    await until(page, card('t-push').getByText('Denied by boris (telegram)'));
    await card('t-mail').getByRole('button', { name: /^Yes/ }).dispatchEvent('click');
    await card('t-mail').getByText('Look again').waitFor();
    assert.equal(fake.answers.length, 0);
    await later(page);
    await card('t-mail').getByRole('button', { name: /^Yes/ }).click();
    await card('t-mail').getByText('Approved by you').waitFor();
  }));

test('a source of a group is trusted after its preview, and the question still waits', () =>
  with_({}, async ({ page, fake, card }) => {
    await page.getByText('held for quiet hours').click();
    const c = card('t-held');
    await c.getByRole('button', { name: 'Trust boris…' }).click();
    await c.getByText("The session's mark would then be").waitFor();
    await c.getByText('in every session').waitFor();
    await c.getByText('sender boris, group general').waitFor();
    assert.equal(fake.vouched.length, 0);
    await c.getByRole('button', { name: 'Trust it', exact: true }).click();
    await c.getByText("The session's mark is now").waitFor();
    await c.getByText('answer it. It is not judged again').waitFor();
    assert.equal(fake.vouched.length, 1);
    assert.equal(fake.answers.length, 0);
  }));

test('what a stranger wrote is not trusted on a card, which says how it can be', () =>
  with_({}, async ({ card }) => {
    assert.equal(await card('t-push').getByRole('button', { name: /^Trust/ }).count(), 0);
    assert.equal(await card('t-mail').getByRole('button', { name: /^Trust/ }).count(), 0);
    await card('t-push').getByText('All that is known').click();
    await card('t-push').getByText('To trust one of these, read it first.').waitFor();
    assert.match(await card('t-mail').locator('code', { hasText: 'floodmark trust' }).innerText(), /^floodmark trust s-notes c{12}$/);
  }));

test('a push is shown by its lines, as others wrote them', () =>
  with_({}, async ({ card }) => {
    const d = card('t-push').locator('.diff');
    await d.waitFor();
    assert.deepEqual(await d.locator('.new').allInnerTexts().then((all) => all.map((t) => t.replace(/\s*\n\s*/, ' '))), ['+     if (sum < 0) return -cents(-sum);', '+   return Math.floor(sum + 0.5);⟨2 spaces⟩', "+ test('half', () => expect(cents(-0.5)).toBe(-1));"].map((t) => t.replace(/^\+\s+/, '+ ')));
    assert.equal(await d.locator('.new .text').first().evaluate((e) => e.textContent), '    if (sum < 0) return -cents(-sum);');
    assert.equal(await d.locator('.gone .sign').innerText(), '−');
    assert.equal(await card('t-push').locator('li', { hasText: 'Round half away' }).count(), 0);
    assert.equal(await card('t-push').locator('li', { hasText: 'Command: “' }).count(), 0);
  }));

test('what may go wrong is read first, and the yes beside it is not the loudest', () =>
  with_({}, async ({ card }) => {
    const c = card('t-mail');
    const [what, warning, why] = await Promise.all(['.what', '.severe', '.because'].map(async (l) => (await c.locator(l).boundingBox()).y));
    assert.ok(what < warning && warning < why);
    const back = (t) => card(t).getByRole('button', { name: /^Yes/ }).evaluate((e) => getComputedStyle(e).backgroundColor);
    assert.notEqual(await back('t-mail'), await back('t-push'));
    assert.equal(await c.locator('li', { hasText: 'password or key' }).count(), 0);
  }));

test('Enter in the field of a destination is a yes, and what was said of the one before is gone', () =>
  with_(
    {
      change: (method, answer) => (method === 'OwnerService/Pending' ? { ...answer, questions: answer.questions.map((q) => (q.ticket === 't-mail' ? { ...q, calls: [{ ...q.calls[0], pick: { argument: 'to', words: 'type it' } }] } : q)) } : answer),
      read: (r) => (r.verb ? { ...r, seen: 'another' } : r), // no answer is taken
    },
    async ({ page, fake, card }) => {
      await settled(page);
      const field = card('t-mail').getByRole('textbox');
      await field.fill('eve');
      await field.press('Enter');
      await card('t-mail').getByText('What it shows has changed').waitFor();
      assert.equal(fake.answers.at(-1).picked, 'eve');
      await field.fill('vera');
      assert.equal(await card('t-mail').getByText('What it shows has changed').count(), 0);
    },
  ));

test('a monitor that is stopped ends the page, and one that is gone is not said to protect', () =>
  with_({}, async ({ page, fake }) => {
    fake.stop();
    await page.getByRole('heading', { name: 'The monitor has ended' }).waitFor();
    await page.getByText('nothing your agents do is judged any more').waitFor();
    assert.equal(await page.locator('article').count(), 0);
  }));

test('a call that is judged at another mark than its session says which is which', () =>
  with_({ change: (method, answer) => (method === 'OwnerService/Sessions' ? { ...answer, sessions: answer.sessions.map((s) => (s.id === 's-ledger' ? { ...s, mark: { trust: 'local', secrecy: 'internal' } } : s)) } : answer) }, async ({ card }) => {
    await card('t-push').getByText('this call: untrusted').waitFor();
    await card('t-mail').getByText('session: external').waitFor();
    await card('t-push').getByText('All that is known').click();
    await card('t-push').getByText('the session so far as').waitFor();
  }));

test('the time stays beside the agent, however long the name', () =>
  with_({ width: 760, change: (method, answer) => (method === 'OwnerService/Sessions' ? { ...answer, sessions: answer.sessions.map((s) => ({ ...s, project: '/home/anna/a folder with a name that is long enough to fill the line' })) } : answer) }, async ({ page }) => {
    await page.getByText('a folder with a name').first().waitFor();
    const tops = await page.locator('article').evaluateAll((all) => all.filter((a) => a.checkVisibility()).map((a) => ['.who', '.time'].map((s) => a.querySelector(s).getBoundingClientRect().top)));
    for (const [who, time] of tops) assert.ok(Math.abs(who - time) < 8, `${who} ${time}`);
  }));

test('only what a person can act on is to be looked at', () =>
  with_({}, async ({ page }) => {
    await page.getByRole('heading', { name: 'To look at' }).waitFor();
    assert.equal(await page.locator('section li', { hasText: 'User mode' }).count(), 0);
    await page.getByText('Known limits of this installation').click();
    await page.getByText('User mode: code of your own user').waitFor();
    assert.equal(await page.getByText('id deploy').or(page.getByText('id s-deploy')).count(), 1);
  }));

test('what others wrote is quoted below the facts, as theirs', () =>
  with_({}, async ({ card }) => {
    const c = card('t-push');
    const quote = c.locator('figure');
    await quote.getByText('stands word for word in').waitFor();
    assert.equal(await quote.locator('blockquote').innerText(), 'git push -u origin fix-rounding');
    assert.equal(await quote.locator('a, button, blockquote *:not(.foreign, .named)').count(), 0);
    const [why, at, yes] = await Promise.all([c.locator('.because'), quote, c.getByRole('button', { name: /^Yes/ })].map(async (l) => (await l.boundingBox()).y));
    assert.ok(why < at && at < yes);
    assert.match(await card('t-mail').locator('figcaption').innerText(), /stands in pieces in/);
  }));

test('the list of sessions is enough for the page', () =>
  with_({}, async ({ page, fake }) => {
    await page.getByText('npm install left-pad@1.3.0').first().waitFor();
    await page.getByText('wanted to push').or(page.getByText('docs/guide/asking.md')).first().waitFor();
    assert.ok(!fake.asked.includes('OwnerService/Show'));
    await page.getByText('Floodmark v0.1.0,').waitFor();
  }));

test('without the daemon nothing can be answered, and with it again it can', () =>
  with_({}, async ({ page, fake, card }) => {
    fake.cut();
    await page.getByText('Not live.', { exact: true }).waitFor();
    await page.getByText('It is not known here whether Floodmark still protects.').waitFor();
    assert.ok(await card('t-push').getByRole('button', { name: /^Yes/ }).isDisabled());
    fake.mend();
    await page.getByText('Not live.', { exact: true }).waitFor({ state: 'detached', timeout: 15_000 });
    await settled(page);
    assert.ok(await card('t-push').getByRole('button', { name: /^Yes/ }).isEnabled());
  }).catch((e) => {
    // The browser reports the stream that was cut on purpose.
    if (!/ERR_|503/.test(String(e))) throw e;
  }));

test('hostile text runs nothing', () =>
  with_({ state: 'hostile' }, async ({ page }) => {
    await settled(page);
    assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main iframe').length), 0);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  }));

// A machine of the fleet chooses the tickets of its questions.
const doubled = (method, m) => {
  if (method !== 'OwnerService/Pending' || !m.questions?.length) return m;
  const [q] = m.questions;
  const other = { ...q, session: 'laptop:other', seen: 'other', calls: q.calls.map((c) => ({ ...c, what: 'pi wants to run: “make other”' })) };
  return { ...m, questions: [...m.questions, other, { ...other }] };
};

test('a question with the ticket of another one stands beside it', () =>
  with_({ change: doubled }, async ({ page, card, fake }) => {
    await page.getByRole('heading', { name: '4 questions for you' }).waitFor();
    const [{ ticket, session }] = fake.data.questions;
    assert.equal(await card(ticket).count(), 2);
    const other = card(ticket).filter({ hasText: 'make other' });
    const first = card(ticket).filter({ hasNotText: 'make other' });
    await first.getByRole('button', { name: /^No/ }).click();
    await first.filter({ hasText: 'Denied' }).waitFor();
    assert.equal(fake.answers.at(-1).session, session);
    assert.equal(await other.getByRole('button', { name: /^No/ }).isEnabled(), true);
  }));

test('of very many questions some are shown at once, and the others by a button', () =>
  with_({ many: 2_500 }, async ({ page }) => {
    await page.getByRole('heading', { name: /^24\d\d questions for you/ }).waitFor();
    assert.equal(await page.locator('article[data-ticket]:visible').count(), 50);
    await page.getByRole('button', { name: /^Show 50 more of/ }).click();
    await page.locator('article[data-ticket]:visible').nth(99).waitFor();
  }));

test('a push is approved when all of it was shown, and not before', () =>
  with_({ long: 2_002 }, async ({ page, card }) => {
    const yes = card('t-push').getByRole('button', { name: /^Yes/ });
    await card('t-push').getByText('Show all that it sends first.').waitFor();
    assert.ok(await yes.isDisabled());
    await card('t-push').getByRole('button', { name: /^Show all \d+ lines/ }).click();
    await settled(page);
    assert.ok(await yes.isEnabled());
  }));
