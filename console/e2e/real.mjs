// The real program, a real agent and a real browser.
//
//   .ci/console e2e         builds what this needs and runs it with the others
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from './open.mjs';
import { payloads } from './payloads.mjs';
import { page as poisoned, world } from './world.mjs';

const read = `curl -s ${poisoned}`;
const makefile = 'one two three:\n\t@echo made $@ >> ran.txt\n';

async function with_(options, act) {
  const w = await world(options);
  try {
    await act(w);
  } finally {
    await w.close();
  }
}
/** yes presses the button until the card is answered: just after it came or moved it takes no yes. */
async function yes(card) {
  const [button, over] = [card.getByRole('button', { name: /^Yes/, disabled: false }), card.getByText(/(Approved|Denied) by/)];
  for (;;) {
    await button.or(over).first().waitFor();
    if ((await over.count()) > 0) return;
    await button.click({ timeout: 1_000 }).catch(() => undefined); // answered elsewhere, it is gone
  }
}
const ran = async (agent) => (await readFile(join(agent.here, 'ran.txt'), 'utf8').catch(() => '')).trim();
/** noteCards writes down when the first card stood on a page, on the clock that this program has, too. */
const noteCards = (page) =>
  page.evaluate(() => {
    const seen = () => document.querySelector('article[data-ticket]') && (globalThis.cardAt ??= Date.now());
    new MutationObserver(seen).observe(document.body, { childList: true, subtree: true });
  });

/** say asks the daemon for something, with what this page may. */
const say = (page, method, message) =>
  page.evaluate(async ([method, message]) => {
    const answer = await fetch(`/floodmark.v1.${method}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${sessionStorage.getItem('floodmark-token')}` }, body: JSON.stringify(message) });
    return await answer.json();
  }, [method, message]);
/** told asks for something that is told in pieces, and gives the last one. */
const told = (page, method, message) =>
  page.evaluate(async ([method, message]) => {
    const text = new TextEncoder().encode(JSON.stringify(message));
    const frame = new Uint8Array(5 + text.length);
    new DataView(frame.buffer).setUint32(1, text.length);
    frame.set(text, 5);
    const answer = await fetch(`/floodmark.v1.${method}`, { method: 'POST', headers: { 'Content-Type': 'application/connect+json', 'Connect-Protocol-Version': '1', Authorization: `Bearer ${sessionStorage.getItem('floodmark-token')}` }, body: frame });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    let last;
    for (let at = 0; at < bytes.length; ) {
      const size = new DataView(bytes.buffer, at).getUint32(1);
      if (!(bytes[at] & 2)) last = JSON.parse(new TextDecoder().decode(bytes.subarray(at + 5, at + 5 + size)));
      at += 5 + size;
    }
    return last;
  }, [method, message]);

test("an agent's held call is answered on a phone, in one of two tabs, and the agent goes on", () =>
  with_({}, async (w) => {
    const phone = await open(await w.link(), { width: 360 });
    const other = await open(await w.link(), {});
    try {
      for (const { page } of [phone, other]) await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
      await noteCards(phone.page);
      await w.write('work/Makefile', makefile);
      const agent = await w.pi('work', read, 'make -s one', 'make -s two');
      const one = { hasText: 'make -s one' };
      const card = phone.page.locator('article[data-ticket]', one);
      const there = other.page.locator('article[data-ticket]', one);
      await card.waitFor({ timeout: 60_000 });
      await there.waitFor();
      // The clock starts when the model answers: the agent, its hook and the daemon are in it.
      const late = (await phone.page.evaluate(() => globalThis.cardAt)) - agent.gave[1];
      console.log(`the card stood ${late} ms after the model wanted the call`);
      if (process.env.QUIET) assert.ok(late < 1000, `${late} ms`); // a machine that does other things says nothing about this
      assert.equal(await ran(agent), '', 'it ran before it was answered');
      assert.match(await card.innerText(), /make -s one/);
      assert.ok((await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, 'wider than the phone');

      await card.getByRole('button', { name: /^Yes/, disabled: false }).waitFor();
      await Promise.all([yes(card), there.getByRole('button', { name: /^No\b/ }).click()]); // both at once: the daemon takes one
      const said = /(Approved|Denied) by/;
      await Promise.all([card.getByText(said).waitFor(), there.getByText(said).waitFor()]);
      const words = async (c) => said.exec(await c.innerText())[1];
      // A no that comes just after the yes holds if the call has not run yet. Then both tabs say so.
      const first = await agent.result(2);
      const mine = (await ran(agent)) === 'made one' ? 'Approved' : 'Denied';
      if (mine === 'Denied') assert.match(first, /floodmark/);
      await waitFor(async () => (await words(card)) === mine && (await words(there)) === mine);
      console.log(`both tabs say: ${mine}`);

      const next = phone.page.locator('article[data-ticket]', { hasText: 'make -s two' });
      await next.waitFor();
      await yes(next);
      await next.getByText('Approved by').waitFor();
      await other.page.locator('article[data-ticket]', { hasText: 'make -s two' }).getByText('Approved by').waitFor();
      await agent.result(3);
      assert.match(await ran(agent), /made two$/);
      assert.deepEqual([(await agent.ended)[0], phone.wrong, other.wrong], [0, [], []]);
    } finally {
      await phone.browser.close();
      await other.browser.close();
    }
  }));

test('endorsing lifts the mark on the screen, and withdrawing lowers it', () =>
  with_({}, async (w) => {
    const { browser, page, wrong } = await open(await w.link(), { width: 360 });
    try {
      await w.write('work/Makefile', makefile);
      const agent = await w.pi('work', read, 'make -s one');
      const card = page.locator('article[data-ticket]').first();
      await card.waitFor({ timeout: 60_000 });
      await card.getByRole('link', { name: 'See the session' }).click();
      const mark = page.locator('main .title .mark').first();
      await mark.filter({ hasText: 'untrusted' }).waitFor();
      await page.getByRole('button', { name: 'Trust it…' }).first().click();
      await page.getByRole('button', { name: 'Trust this source', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Trust this source', exact: true }).click();
      await mark.filter({ hasText: 'local' }).waitFor();
      await page.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('button', { name: 'Take back…' }).first().click();
      await page.getByRole('button', { name: 'Take it back' }).click();
      await mark.filter({ hasText: 'untrusted' }).waitFor();
      const here = page.locator('article[data-ticket]').first();
      await here.getByRole('button', { name: /^No\b/ }).click();
      await here.getByText('Denied by').waitFor();
      assert.match(await agent.result(2), /floodmark/);
      assert.equal(await ran(agent), '');
      assert.deepEqual(wrong, []);
    } finally {
      await browser.close();
    }
  }));

test('a policy with an error is not saved, and what-if says the numbers of «policy replay»', () =>
  with_({}, async (w) => {
    const { browser, page, wrong } = await open(await w.link(), {});
    try {
      await w.write('work/Makefile', makefile);
      const agent = await w.pi('work', read, 'make -s one', 'cat notes.txt');
      const card = page.locator('article[data-ticket]').first();
      await card.waitFor({ timeout: 60_000 });
      await yes(card);
      await agent.ended;

      const rules = await say(page, 'ConsoleService/Rules', {});
      const own = rules.files[0];
      const bad = await say(page, 'ConsoleService/SaveRules', { text: `${own.text}\nno such key: 1\n`, read: own.digest });
      assert.ok(bad.refused && bad.problems.length > 0 && !bad.loaded, JSON.stringify(bad));
      assert.equal(await readFile(w.rules, 'utf8'), own.text);
      assert.equal((await say(page, 'ConsoleService/Rules', {})).inForce, rules.inForce);

      for (const text of [own.text, 'version: 1\nprofile: strict\n', 'version: 1\nprofile: assistant\n', 'version: 1\nprofile: dry-run\n']) {
        const { stdout } = await w.run('policy', 'replay', '--policy', await w.write('try.yaml', text), '--since', '7d', '--output', 'json');
        const here = await told(page, 'ConsoleService/TryRules', { text });
        const shell = JSON.parse(stdout);
        compare(here, shell);
        if (text === own.text) assert.deepEqual([shell.changed, shell.cannotTell, shell.same], [0, 0, shell.decisions], 'the policy in force differs from itself');
      }
      assert.deepEqual(wrong, []);
    } finally {
      await browser.close();
    }
  }));

test('hostile names, commands and pages that an agent reports run nothing in the real console', () =>
  with_({}, async (w) => {
    const { browser, page, wrong } = await open(await w.link(), { width: 360 });
    try {
      await page.evaluate(() => {
        globalThis.refused = [];
        document.addEventListener('securitypolicyviolation', (e) => globalThis.refused.push(`${e.violatedDirective} ${e.sample}`));
      });
      const few = payloads.filter((_, i) => i % 3 === 0 || i === payloads.length - 1);
      const waits = [];
      let sent = 0;
      for (const [i, [, text]] of few.entries()) {
        // A folder has no NUL and no slash in a name, and one frame holds no more than 16 MB.
        const short = text.slice(0, 20_000);
        const cwd = join(w.home, `p${i}-${Buffer.from(short.replace(/[\0/\uD800-\uDFFF]/gu, '')).subarray(0, 100).toString().replace(/\uFFFD/g, '')}`);
        await mkdir(cwd, { recursive: true });
        const ctx = { cwd, sessionId: `hostile-${i}`, mode: 'print' };
        const at = (event, more, person) => w.hook({ agent: 'pi', event, raw: { event: { type: event, ...more }, ctx }, env: { HOME: w.home }, deadline_ms: 10_000, person_ms: person });
        const call = (n, toolName, input, person) => at('tool_call', { toolName, toolCallId: `c${i}-${n}`, input }, person);
        const result = (n, toolName, input, out) => at('tool_result', { toolName, toolCallId: `c${i}-${n}`, input, content: [{ type: 'text', text: out }], isError: false });
        await at('session_start', { reason: 'new' });
        await at('input', { text: short || 'work', source: 'interactive' });
        const fetch = { command: `curl -s http://${i}.example/${encodeURIComponent(short.toWellFormed().slice(0, 500))}` };
        await call(1, 'bash', fetch);
        await result(1, 'bash', fetch, text);
        const later = (c) => waits.push(c.catch(() => undefined)); // a person is waited for
        later(call(2, 'write', { path: join(cwd, short.slice(0, 200) || 'x'), content: short }, 600_000));
        later(call(3, short.slice(0, 200) || 'x', { [short.slice(0, 80) || 'x']: short }, 600_000));
        later(call(4, 'bash', { command: `make "${short.slice(0, 8_000)}"` }, 600_000));
        sent += 8;
      }
      assert.equal(await w.load(page.url()), 403, 'the process of an agent loads the console');
      // Everything is there when every question that the daemon holds stands on the page.
      const held = await waitFor(async () => {
        const { questions = [] } = await say(page, 'OwnerService/Pending', {});
        return questions.length >= few.length && (await page.locator('article[data-ticket]').count()) >= few.length ? questions.length : 0;
      });
      const kinds = ['img', 'script', 'iframe', 'object', 'embed', 'form:not([class*=fm-])', 'base', 'meta', 'link', 'style', 'foreignObject', 'animate'];
      let looked = 0;
      const look = async (where) => {
        await page.evaluate(() => document.querySelectorAll('main details').forEach((d) => (d.open = true)));
        const found = await page.evaluate((kinds) => [...document.querySelectorAll(kinds.map((k) => `body ${k}`).join(','))].map((e) => e.outerHTML.slice(0, 100)), kinds);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.deepEqual([where, found, over > 0], [where, [], false]);
        assert.deepEqual(await page.evaluate(() => [...globalThis.refused, globalThis.pwned ?? '']), ['']);
        looked++;
      };
      await look('now');
      for (const at of await page.locator('nav a').evaluateAll((l) => l.map((a) => a.getAttribute('href')))) {
        await page.evaluate((h) => (location.hash = h), at);
        await page.locator('main h1').first().waitFor();
        await look(at);
      }
      const { sessions } = await say(page, 'OwnerService/Sessions', { limit: 100 });
      for (const s of sessions) {
        await page.evaluate((id) => (location.hash = `#/session/${encodeURIComponent(id)}`), s.id);
        await page.locator('main h1').filter({ hasText: /^pi/ }).waitFor();
        await look(s.id);
      }
      console.log(`${sent} hostile events in ${sessions.length} sessions, ${held} questions held, ${looked} pages looked at`);
      assert.ok(sessions.length >= few.length);
      assert.deepEqual(wrong, []);
    } finally {
      await browser.close();
    }
  }));

/** waitFor asks again until there is something. */
async function waitFor(what, least = 60_000) {
  for (const end = Date.now() + least; Date.now() < end; ) {
    const got = await what();
    if (got) return got;
  }
  throw new Error('it did not come');
}

/** compare holds what the page is told against what the program prints. */
function compare(here, shell) {
  assert.ok(here.done && here.trial, JSON.stringify(here));
  const { trial } = here;
  const n = (v) => Number(v ?? 0); // a field that is 0 is not sent
  const mine = { sessions: n(trial.sessions), decisions: n(trial.decisions), same: n(trial.same), changed: n(trial.changed), cannotTell: n(trial.cannotTell), tasks: n(trial.tasks), questions: { was: n(trial.questionsWas), would: n(trial.questionsWould) }, looser: n(trial.looser), stricter: n(trial.stricter), differences: trial.differences?.length ?? 0, more: n(trial.more) };
  const { sessions, decisions, same, changed, cannotTell, tasks, questions, looser, stricter, differences, more } = shell;
  assert.deepEqual(mine, { sessions, decisions, same, changed, cannotTell, tasks, questions: { was: questions.was, would: questions.would }, looser, stricter, differences: differences.length, more });
  console.log(`what-if and «policy replay»: ${decisions} decisions, ${changed} changed, ${questions.was} questions would be ${questions.would}`);
}
