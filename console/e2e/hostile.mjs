// Hostile text in every field of every message that a page shows: nothing of it runs, becomes an
// element or an attribute, breaks the layout or asks anything of anywhere.
//
// Every field gets every payload, each time with other payloads around it: in the k-th load
// the i-th field has payload i+k.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../dev/fake.mjs';
import { launch } from './open.mjs';
import { mark, payloads } from './payloads.mjs';

const screen = 800;
const highest = 12; // screens that one card may fill on a phone if all of its fields are hostile at once
const names = ['ticket', 'session', 'id', 'decision', 'digest']; // what messages refer to each other by
const times = ['at', 'asked', 'expires', 'held', 'opened', 'written', 'started', 'until', 'since', 'from', 'last', 'loaded', 'ends', 'reached', 'day'];
const words = ['verdict', 'reach', 'trust', 'secrecy', 'kind', 'scope', 'end', 'severity', 'fate', 'role', 'whence', 'effects', 'level', 'mode'];
const counts = /^-?\d+$/;
const fixed = ['may', 'nodes', 'edges', 'seen']; // without «may» nothing can be clicked

const fields = new Map(); // every field that was seen, and its number

/** poison gives a function that replaces each text of an answer. */
function poison(k) {
  const clean = (v) => (typeof v === 'string' && v.startsWith(mark) && v.includes('~') ? v.slice(v.lastIndexOf('~') + 1) : v);
  const go = (v, field, key) => {
    if (Array.isArray(v)) return v.map((x, i) => (i < 12 ? go(x, field, key) : x)); // 500 nodes of a megabyte each are more than a daemon sends
    if (v !== null && typeof v === 'object') return Object.fromEntries(Object.entries(v).map(([name, x]) => [name, fixed.includes(name) && typeof x !== 'object' ? x : name === 'may' ? x : go(x, `${field}.${name}`, name)]));
    if (typeof v !== 'string' || counts.test(v)) return v;
    if (!fields.has(field)) fields.set(field, fields.size);
    const [, text] = payloads[(fields.get(field) + k) % payloads.length];
    const pure = key.replace(/^.*\./, '');
    if (times.includes(pure) && !Number.isNaN(Date.parse(v))) return k % 4 === 3 ? text : v;
    if (words.includes(pure)) return k % 2 === 1 ? text : v;
    if (names.includes(pure)) return k % 3 === 2 && text.length < 2000 ? `${text || mark}~${v}` : v;
    if (k % 2 === 0 && /[“]/.test(v)) return `It wants “${text.replace(/[“”]/g, '')}” and “${text.replace(/[“”]/g, '')}”`; // as the daemon quotes
    return text;
  };
  return { answer: (method, message) => go(message, method, ''), request: (message) => JSON.parse(JSON.stringify(message), (_, v) => clean(v)) };
}

/** census tells every pair of element and attribute, and where the mark stands outside of text. */
const census = () => {
  const kinds = new Set();
  const bad = [];
  for (const e of document.querySelectorAll('*')) {
    const tag = e.tagName.toLowerCase();
    kinds.add(tag);
    for (const a of e.attributes) {
      kinds.add(`${tag} ${a.name}`);
      const our = ['data-ticket', 'aria-label', 'title', 'value', 'download'].includes(a.name) || (a.name === 'href' && a.value.startsWith('#/'));
      if (a.value.includes('zq7') && !our) bad.push(`${tag} ${a.name}="${a.value.slice(0, 80)}"`);
      if (['aria-label', 'title'].includes(a.name) && /[\u202A-\u202E\u2066-\u2069\u200B]/.test(a.value)) bad.push(`hidden characters in ${tag} ${a.name}`);
    }
  }
  return { kinds: [...kinds], bad };
};
/** layout tells what is too wide, and how high the highest card is. */
const layout = () => {
  const scrolls = (e) => {
    for (let p = e; p && p !== document.body; p = p.parentElement) if (/auto|scroll|hidden|clip/.test(getComputedStyle(p).overflowX)) return true;
    return false;
  };
  const wide = [];
  for (const e of document.querySelectorAll('main *')) {
    const b = e.getBoundingClientRect();
    if (b.width > 0 && b.right > innerWidth + 1 && !scrolls(e)) wide.push(`${e.tagName.toLowerCase()}.${e.className} ends at ${Math.round(b.right)}`);
  }
  const height = (e) => e.getBoundingClientRect().height;
  let high = [...document.querySelectorAll('article, main li')].sort((a, b) => height(b) - height(a))[0];
  const most = high ? height(high) : 0;
  for (let child = high; child; child = [...high.children].find((c) => height(c) > most / 2)) high = child;
  const hidden = []; // the text below the editor has them in red, as it must have every character of the editor
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t = texts.nextNode(); t; t = texts.nextNode()) {
    const at = t.data.search(/[\u202A-\u202E\u2066-\u2069\u200B\u2060]/);
    if (at >= 0 && !t.parentElement.closest('.under')) hidden.push(`${t.parentElement.tagName.toLowerCase()}.${t.parentElement.className}: U+${t.data.charCodeAt(at).toString(16)} after ${t.data.slice(Math.max(0, at - 40), at)}`);
  }
  return { over: document.documentElement.scrollWidth - innerWidth, wide: wide.slice(0, 3), highest: most, high: high ? `${high.tagName} ${high.className}: ${high.textContent.slice(0, 60)}` : '', hidden };
};
/** openAll shows what is folded up or cut, and begins what has a step before it. */
const openAll = async () => {
  for (const d of document.querySelectorAll('main details')) d.open = true;
  const form = document.querySelector('main form.search');
  form?.requestSubmit();
  while (form && ![...form.parentElement.querySelectorAll('button')].some((b) => b.textContent === 'Close the list')) await new Promise((done) => setTimeout(done, 20));
  for (const b of [...document.querySelectorAll('main button.more')].slice(0, 4)) b.click();
  for (const b of document.querySelectorAll('main button')) if (/^(Trust|Always|Take back)/.test(b.textContent.trim())) b.click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.querySelector('main .trust input[type=radio]')?.click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
};

/** visit opens every page of the console, and calls look at each. */
async function visit(browser, { width, k, state = 'full' }, look) {
  const p = k === undefined ? undefined : poison(k);
  const fake = await serve({ state, ...(p ? { change: p.answer, read: p.request } : {}) });
  const context = await browser.newContext({ viewport: { width, height: screen } });
  await context.addInitScript(() => {
    globalThis.refused = [];
    document.addEventListener('securitypolicyviolation', (e) => globalThis.refused.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  });
  const page = await context.newPage();
  const wrong = [];
  page.on('pageerror', (e) => wrong.push(`error: ${e.message.slice(0, 300)}`));
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/status of 40[034]/.test(m.text()) && wrong.push(`console: ${m.text().slice(0, 300)}`));
  page.on('dialog', (d) => (wrong.push('a dialog'), d.dismiss()));
  page.on('request', (r) => !r.url().startsWith(fake.url) && !r.url().startsWith('data:image/svg+xml,<svg') && wrong.push(`asked ${r.url().slice(0, 100)}`));
  page.on('popup', () => wrong.push('a window'));
  const settle = () => page.evaluate(() => new Promise((done) => requestIdleCallback(done, { timeout: 400 })));
  try {
    await page.goto(`${fake.url}#open=example`);
    await page.locator('nav a').first().waitFor();
    await page.locator('main h1').first().waitFor();
    const says = { session: 's-ledger', agent: 'pi' };
    const { decisions = [] } = fake.data.show('s-ledger');
    for (const what of [{ decided: decisions.at(-1) }, { boxed: decisions.find((d) => d.box) }, { incident: { kind: 'bypass', text: 'It ran “make” without asking', at: new Date().toISOString() } }, { asked: { ...fake.data.questions[0], ticket: 't-late' } }, { answered: { ticket: 't-two', verdict: 'restrict', by: 'boris', channel: 'telegram' } }, { paused: { session: 's-ledger', by: 'anna', until: new Date(Date.now() + 60_000).toISOString() } }]) {
      if (Object.values(what)[0]) fake.say({ ...says, ...what });
    }
    await settle();
    const links = await page.locator('nav a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    const all = [...links];
    for (let i = 0; i < all.length; i++) {
      if (i > 0) await page.evaluate((h) => (location.hash = h), all[i]);
      await page.locator('main h1').first().waitFor();
      await settle();
      if (all[i] === '#/session' && state === 'full') {
        await page.locator('main a[href^="#/session/"]').first().waitFor();
        const found = await page.locator('main a[href^="#/session/"]').evaluateAll((l) => l.map((a) => a.getAttribute('href')).filter((h) => h.includes('s-ledger') || h.includes('s-site')));
        assert.ok(found.length >= 2, 'the sessions are not listed');
        all.push(...found.slice(0, 2));
      }
      await look(page, all[i].slice(0, 30), false);
      await page.evaluate(openAll);
      await settle();
      await look(page, `${all[i].slice(0, 30)}, all open`, true);
      wrong.push(...(await page.evaluate(() => [...globalThis.refused, ...(globalThis.pwned ? ['IT RAN'] : [])])));
      if (wrong.length > 0) break;
    }
    return { wrong, pages: all.length };
  } catch (e) {
    throw new Error(`load ${k}, ${width} px, at ${page.url().slice(0, 120)}: ${wrong.slice(0, 3)} ${e.message.slice(0, 200)}`, { cause: e });
  } finally {
    await context.close();
    fake.close();
  }
}

test('every field takes every hostile text, and shows it as text', { timeout: 900_000 }, async () => {
  const browser = await launch();
  const known = new Set(['br', 'button disabled', 'a aria-current', 'option', 'option selected', 'span title']);
  try {
    for (const state of ['full', 'empty']) {
      for (const width of [1280, 360]) {
        await visit(browser, { width, state }, async (page) => {
          for (const kind of (await page.evaluate(census)).kinds) known.add(kind);
        });
      }
    }
    let loads = 0;
    let high = 0;
    const found = [];
    // In the gate every field gets some of the texts, chosen by the commit; in a nightly run all.
    const first = Number(process.env.LOAD ?? process.env.SEED ?? 0) % payloads.length;
    const some = process.env.NIGHTLY ? payloads.length : process.env.LOAD ? 1 : 6;
    for (let k = first; k < first + some; k++) {
      const width = k % 2 === 0 ? 360 : 1280;
      const { wrong, pages } = await visit(browser, { width, k }, async (page, where, opened) => {
        const say = (text) => found.push(`load ${k}, ${where}, ${width} px: ${text}`);
        const { kinds, bad } = await page.evaluate(census);
        for (const kind of kinds) if (!known.has(kind)) say(`a new element or attribute: ${kind}`);
        bad.forEach(say);
        const l = await page.evaluate(layout);
        if (l.over > 0) say(`${l.over} px too wide: ${l.wide}`);
        if (l.wide.length > 0) say(`${l.wide}`);
        if (!opened) high = Math.max(high, l.highest);
        if (!opened && l.highest > highest * screen) say(`a card is ${Math.round(l.highest)} px high, by ${l.high}`);
        for (const h of l.hidden) say(`a hidden character is not named in ${h}`);
      });
      wrong.forEach((w) => found.push(`load ${k}: ${w}`));
      loads += pages;
    }
    console.log(`${fields.size} fields × ${some} texts = ${fields.size * some} cases, on ${loads} pages; the highest card filled ${(high / screen).toFixed(1)} screens of a phone`);
    assert.ok(fields.size * some >= 200);
    assert.deepEqual(found, []);
  } finally {
    await browser.close();
  }
});
