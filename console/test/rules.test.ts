import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { below, options, parse, place } from '../src/lib/complete';
import type { Schema } from '../src/lib/complete';
import type { RulesDifference } from '../src/lib/desks';
import { diff, lines, sizeOf } from '../src/lib/diff';
import * as f from '../src/lib/figures';
import { hidden, paint } from '../src/lib/paint';

const schema = parse(readFileSync(new URL('../../docs/reference/policy.schema.json', import.meta.url), 'utf8')) as Schema;

/** at completes where the bar stands. */
function at(text: string): string[] {
  const caret = text.indexOf('|');
  const p = place(text.replace('|', ''), caret);
  return p ? options(schema, p).map((o) => o.word) : ['nothing'];
}

test('what can stand at the caret follows from the schema', () => {
  const trust = ['system', 'owner', 'local', 'shared', 'external', 'untrusted'];
  const cases: [string, string[]][] = [
    ['prof|', ['profile']],
    ['version: |', ['1']],
    ['profile: |', ['assistant', 'coding', 'strict', 'dry-run']],
    ['profile: str|', ['strict']],
    ['table:\n  |', ['admin', 'run', 'send', 'change', 'write', 'fetch', 'observe']],
    ['table:\n  run: {}\n  send: {}\n  |\n  write: {}', ['admin', 'change', 'fetch', 'observe']],
    ['table:\n  run: {|', trust],
    ['table:\n  run: {system: allow, loc|', ['local']],
    ['table:\n  run: {system: allow, local: con|', ['confirm', 'contain-else-audit', 'contain']],
    ['table:\n  run:\n    local: |', ['restrict', 'confirm', 'audit', 'contain-else-audit', 'contain', 'allow']],
    ['toolOverrides:\n  "web fetch":\n    untr|', ['untrusted']],
    ['toolOverrides:\n  mail/*:\n    untrusted: all|', ['allow']],
    ['sources:\n  - |', ['host', 'path', 'trust']],
    ['sources:\n  - host: a.example\n    trust: |', ['shared', 'external', 'untrusted']],
    ['sources:\n- host: a.example\n  tr|', ['trust']],
    ['rules:\n  - name: x\n    when:\n      context_taint_includes: [local, un|', ['untrusted']],
    ['rules:\n  - name: x # why\n    when: "true"\n    action:\n      block_t|', ['block_tools', 'block_turn']],
    ['rules:\n  - name: x\n    when:\n      context_taint_includes:\n        - ow|', ['owner']],
    ['approvals:\n  ttl: |', ['10s', '2m']],
    ['relax: |', ['true', 'false']],
    ['agents:\n  pi:\n    taintPolicy: {owner: al|', ['allow']],
    ['# prof|', ['nothing']],
    ['profile: coding # str|', ['nothing']],
    ['a: b\n  |', ['nothing']],
    ['nonsense:\n  |', []],
    ['__proto__:\n  |', []],
    ['constructor: |', []],
  ];
  for (const [text, want] of cases) expect(at(text), text).toEqual(want);
});

test('keys that are needed come with a word, and lists begin on the next line', () => {
  const p = place('sources:\n  - t', 14);
  expect(p && options(schema, p)[0]).toMatchObject({ word: 'trust', insert: 'trust: ', about: expect.stringMatching(/^Needed/) });
  const q = place('wor', 3);
  expect(q && options(schema, q)[0]?.insert).toBe('workspace:\n  - ');
  const r = place('toolOverrides:\n  x: {', 21);
  expect(r && options(schema, r).at(-1)?.insert).toBe('"*": ');
});

test('no text makes completion fail', () => {
  const bits = ['a: ', '- ', '{', '}', '[', ']', ',', '\n', '  ', '"', "'", '#', '|', 'table', ':', '*', '日本', '\t'];
  let seed = 7;
  const next = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648);
  for (let n = 0; n < 3_000; n++) {
    const text = Array.from({ length: next() % 25 }, () => bits[next() % bits.length]).join('');
    for (let i = 0; i <= text.length; i++) {
      const p = place(text, i);
      if (p) options(schema, p);
    }
  }
  expect(parse('{')).toBeUndefined();
  expect(below(schema, ['table', '[]', 'x'])).toEqual([]);
});

test('a difference rebuilds both texts, and is a shortest one', () => {
  const cases: [string, string, number, number][] = [
    ['', '', 0, 0],
    ['', 'a\n', 0, 1],
    ['a\nb\nc\n', 'a\nc\n', 1, 0],
    ['a\nb\nc', 'a\nx\nc', 1, 1],
    ['a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc', 3, 2],
  ];
  for (const [a, b, gone, came] of cases) expect(sizeOf(diff(a, b)), `${a} to ${b}`).toEqual({ gone, came });
  let seed = 3;
  const next = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 8;
  for (let n = 0; n < 400; n++) {
    const text = (): string => Array.from({ length: next() % 14 }, () => 'abc'[next() % 3]).join('\n');
    const [a, b] = [text(), text()];
    const rows = diff(a, b, 100);
    expect(rows.filter((r) => r.kind !== 'new').map((r) => r.text)).toEqual(lines(a));
    expect(rows.filter((r) => r.kind !== 'gone').map((r) => r.text)).toEqual(lines(b));
    rows.forEach((r) => r.was > 0 && expect(lines(a)[r.was - 1]).toBe(r.text));
  }
});

test('a difference leaves out what is far from it, and gives up on texts that share nothing', () => {
  const a = Array.from({ length: 50 }, (_, i) => `line ${i}`);
  const b = [...a];
  b[25] = 'changed';
  expect(diff(a.join('\n'), b.join('\n')).map((r) => r.kind)).toEqual(['gap', 'same', 'same', 'same', 'gone', 'new', 'same', 'same', 'same', 'gap']);
  const far = (p: string): string => Array.from({ length: 3_000 }, (_, i) => p + i).join('\n');
  expect(sizeOf(diff(far('a'), far('b')))).toEqual({ gone: 3000, came: 3000 });
});

test('what a trial found is said in a sentence', () => {
  const passed: RulesDifference = { looser: true, was: 'confirm', would: 'allow', line: 'confirm -> allow (table)' };
  const out: RulesDifference = { looser: true, was: 'allow', would: 'allow', line: 'contain -> allow (table)' };
  const asked: RulesDifference = { was: 'allow', would: 'confirm', line: 'allow -> confirm (table)' };
  const untold: RulesDifference = { was: 'confirm', line: 'confirm -> cannot tell: x', why: 'x' };
  const ran: RulesDifference = { ...untold, was: 'allow', line: 'allow -> cannot tell: x' };
  const cases: [Parameters<typeof f.trialSentence>[0], number, string][] = [
    [{ questionsWas: '23', questionsWould: '9', looser: '3', differences: [passed, passed, passed] }, 7, 'In the last 7 days this would have asked 14 fewer questions (9 instead of 23), and these 3 calls would have gone through:'],
    [{ questionsWas: 1 }, 1, 'In the last 24 hours this would have asked 1 fewer question (0 instead of 1), and no call would have got further.'],
    [{ questionsWas: 2, questionsWould: 4 }, 30, 'In the last 30 days this would have asked 2 more questions (4 instead of 2), and no call would have got further.'],
    [{ looser: 1, differences: [{ ...passed, was: 'restrict', would: 'confirm', line: 'restrict -> confirm' }] }, 7, 'In the last 7 days this would have asked nothing, as before, and this call would have got further:'],
    [{ differences: [out] }, 7, 'In the last 7 days this would have asked nothing, as before, and this call would have run outside the box:'],
    [{ looser: 4, questionsWas: 12, questionsWould: 16, differences: [out, out, out, out, asked] }, 7, 'In the last 7 days this would have asked 4 more questions (16 instead of 12), and these 4 calls would have run outside the box:'],
    [{ looser: 2, differences: [out, passed] }, 7, 'In the last 7 days this would have asked nothing, as before, and these 2 calls would have got further:'],
    [{ looser: '1200', questionsWas: 3, questionsWould: 3 }, 7, 'In the last 7 days this would have asked as often as before, 3 times, and these 1,200 calls would have gone through:'],
    [{ questionsWas: 1, questionsWould: 1, cannotTell: 3, differences: [untold] }, 7, 'In the last 7 days this would have asked as often as before, once, and of 3 calls it cannot be told: they may get further.'],
    [{ looser: 1, cannotTell: 1, differences: [out, untold] }, 7, 'In the last 7 days this would have asked nothing, as before, and this call would have run outside the box:'],
    [{ cannotTell: 1, differences: [ran] }, 7, 'In the last 7 days this would have asked nothing, as before, and of 1 call that ran it cannot be told: it may be held or stopped.'],
    [{ unread: 1 }, 7, 'In the last 7 days this would have asked nothing, as before, and none of the calls that were judged would have got further.'],
    [{ stopped: 'it took long' }, 7, 'In the last 7 days this would have asked nothing, as before, and none of the calls that were judged would have got further.'],
  ];
  for (const [trial, days, want] of cases) expect(f.trialSentence(trial, days)).toBe(want);
  expect(f.trialWords({ looser: 1, cannotTell: 1, differences: [out, untold] }, 7).doubt).toBe('of 1 more call it cannot be told: it may get further');
  expect(f.trialWords({ stricter: 5, differences: [asked, asked] }, 7).stricter).toBe('5 calls would have been held or stopped, 2 of them with a question');
});

test('only what is sure is saved without a warning', () => {
  const out: RulesDifference = { looser: true, was: 'allow', would: 'allow', line: 'contain -> allow (table)' };
  const said = (t: Parameters<typeof f.trialWords>[0]): string => f.saveWords(f.trialWords(t, 7));
  expect(said({ questionsWas: 1 })).toBe('');
  expect(said({ looser: 4, differences: [out, out, out, out] })).toBe('Save. Calls like these 4 will run outside the box from now on');
  expect(said({ looser: 1 })).toBe('Save. Calls like this one will run from now on');
  expect(said({ cannotTell: 3 })).toBe('Save. 3 calls of which it cannot be told may get further');
  expect([{ cannotTell: 1 }, { unread: 1 }, { stopped: 'x' }, {}].map((t) => f.trialWords(t, 7).sure)).toEqual([false, false, false, true]);
});

test('a reason is told once for all calls that have it', () => {
  const of = (name: string): RulesDifference => ({ was: 'confirm', line: 'confirm -> cannot tell: x', why: `what the call is now depends on the value of ${name}, which was not kept` });
  const out: RulesDifference = { was: 'allow', would: 'allow', line: 'contain -> allow (table)', text: 'a', rule: 'b' };
  expect(f.grouped([of('message'), out, of('body'), { ...out, rule: 'c' }, out]).map((g) => g.all.length)).toEqual([2, 2, 1]);
  expect(f.whyNot('the rule no-links looks at the value of an argument, which was not kept')).toMatch(/^Your rule no-links looks at words/);
  expect([f.whyNot(undefined), f.whyNot('a new reason')]).toEqual(['', 'A new reason']);
});

test('an answer that is not known is a refusal, and a box is told from its line only where both agree', () => {
  expect(['allow', 'contain', 'x', undefined].map(f.verdict)).toEqual(['runs', 'runs in a box', 'is refused', 'is refused']);
  expect(f.words({ was: 'allow', would: 'allow', line: 'contain hiding a -> allow -> allow (x)' })).toEqual({ was: 'contain', would: 'allow' });
  expect(f.words({ was: 'restrict', would: 'confirm', line: 'allow -> allow' })).toEqual({ was: 'restrict', would: 'confirm' });
  expect(f.words({ was: 'confirm', line: 'confirm -> cannot tell: x' })).toEqual({ was: 'confirm', would: '' });
  expect([f.freer({}), f.freer({ looser: true }), f.unboxed({ was: 'allow', would: 'allow', line: 'contain -> allow' })]).toEqual([false, true, true]);
});

test('the bars of a chart stand in its field', () => {
  expect([0, 1, 2, 3, 9, 10, 11, 99, 101, 1234].map(f.top)).toEqual([2, 2, 2, 4, 10, 10, 20, 100, 200, 2000]);
  for (const n of [1, 7, 30]) {
    const days = Array.from({ length: n }, (_, i) => ({ day: `2026-01-${String(i + 1).padStart(2, '0')}`, asked: String((i * 7) % 11) }));
    const c = f.chart(days, 700, 120);
    expect(c.bars).toHaveLength(n);
    for (const b of c.bars) {
      expect(b.x >= 0 && b.x + b.width <= 700.001 && b.y >= 0 && Math.abs(b.y + b.height - 120) < 0.001, JSON.stringify(b)).toBe(true);
    }
    expect(c.bars.at(-1)?.label).toBe(`${n} Jan`);
  }
  const c = f.chart([{ day: '2026-02-01' }, { day: '2026-02-02', asked: '8' }, { day: '<b>', asked: -4 }], 300, 100);
  expect(c.bars.map((b) => [b.n, b.height, b.label])).toEqual([[0, 0, '1 Feb'], [8, 100, '2 Feb'], [0, 0, '']]);
  expect(f.chart([], 300, 100)).toMatchObject({ bars: [], most: 0 });
});

test('numbers in words', () => {
  expect([f.times(1), f.times(2), f.times(1500), f.counted(1, 'call'), f.counted('12345', 'call'), f.many('x')]).toEqual(['once', 'twice', '1,500 times', '1 call', '12,345 calls', '0']);
  expect([f.dayName('2026-12-09'), f.dayName('2026-13-01'), f.dayName(undefined)]).toEqual(['9 Dec', '', '']);
  expect([f.full('a b'), f.full('A.'), f.full(undefined)]).toEqual(['A b.', 'A.', '']);
  expect([f.answersWords({ yes: '19', no: 3, waiting: 1 }), f.unanswered({ yes: '19', expired: '2', waiting: 1 }), f.unanswered({})]).toEqual(['19 yes, 3 no', '2 expired, 1 still open', '']);
});

test('colours change no text, and what cannot be seen is found in the editor too', () => {
  const cases = ['a: b # c', '"x/*": {untrusted: allow, "y": z}', "it's: 'a # b'", '  - host: a.example#b', 'a\u202E: b\u200B', '# \uFEFF', '\t日本: x', ''];
  for (const line of cases) expect(paint(line).map((s) => s.text).join('')).toBe(line);
  expect(paint('run: x # y').map((s) => s.kind)).toEqual(['key', '', 'note']);
  expect(paint('# a\u202Eb').map((s) => s.kind)).toEqual(['note', 'hid', 'note']);
  expect(hidden('a: b\nc\u202E: d\u200B\n')).toEqual([{ line: 2, names: 'U+202E, U+200B' }]);
  expect(hidden('a: b\n\tä 日本 👍\n')).toEqual([]);
});

test('why no line is offered is told in sentences, without codes', () => {
  expect(f.noLine('no single line spares them: not only the table asked: flow-fetch. name where it goes')).toBe('No single line spares them: not only the table asked. Name where it goes');
  expect(f.noLine('no single line spares them: it changes the agent. nothing: do it yourself')).toBe('No single line spares them: it changes the agent. Do it yourself');
});
