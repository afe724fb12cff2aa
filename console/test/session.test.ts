import { expect, test } from 'vitest';
import { diff } from '../src/lib/diff';
import { text } from '../src/lib/session/bytes';
import { byMiddle, layout, size } from '../src/lib/session/layout';
import { byDagre } from '../src/lib/session/order';
import { columnOf, draw, focusOn, home, wordOf } from '../src/lib/session/model';
import { escape, toSvg } from '../src/lib/session/svg';
import { inWords, outputs, stopsInWords } from '../src/lib/session/timeline';
import { afterEndorse, canVouch, dependent } from '../src/lib/session/vouch';
import { graphOf } from '../dev/graphs.mjs';
import type { SessionGraphResponse } from '../src/lib/types';

const none = new Set<string>();
const input = (d: ReturnType<typeof draw>) => ({ nodes: d.shapes.map((s) => ({ turn: s.turn, column: columnOf(s) })), lines: d.lines.filter((l) => l.kind !== 'result').map((l): [number, number] => [l.from, l.to]) });

test('few nodes are drawn one by one, many as one, and a click opens them', () => {
  const small = draw(graphOf(20), none);
  expect(small.shapes.every((s) => s.nodes.length === 1)).toBe(true);
  const big: SessionGraphResponse = graphOf(5000);
  const d = draw(big, none);
  expect(d.shapes.length).toBeLessThan(250);
  expect(d.shapes.reduce((a, s) => a + s.count, 0)).toBe(big.nodes?.length);
  const group = d.shapes.find((s) => s.opens.startsWith('q ')) as (typeof d.shapes)[0];
  const opened = draw(big, new Set([group.opens]));
  expect(opened.shapes.length).toBeGreaterThan(d.shapes.length);
  expect(opened.shapes.some((s) => s.folds === group.opens)).toBe(true);
  expect(draw(big, none, true).shapes.length).toBe(big.nodes?.length);
});

test('what was stopped is never hidden in what was not', () => {
  const big = graphOf(5000) as SessionGraphResponse;
  for (const s of draw(big, none).shapes) {
    const words = s.nodes.filter((n) => n.kind === 'call').map(wordOf);
    const stops = words.filter((w) => w !== 'allowed' && w !== 'boxed').length;
    expect(stops === 0 || stops === words.length).toBe(true);
  }
});

test('the newest turn stays open, so that what was opened stays so when more comes', () => {
  const a = draw(graphOf(500), none).shapes.map((s) => s.opens).filter((k) => k.startsWith('q '));
  const more = graphOf(500) as SessionGraphResponse;
  more.nodes?.push({ id: 'cx', kind: 'call', name: 'read', verdict: 'allow', turn: 9999 });
  const b = draw(more, none).shapes.map((s) => s.opens);
  for (const k of a) expect(b).toContain(k);
});

test('a graph that is not as it should be is drawn as far as it goes', () => {
  const odd: SessionGraphResponse = {
    nodes: [{}, { id: 'a' }, { id: 'b', kind: '<script>', verdict: '__proto__', trust: 'constructor', turn: -5 }, { id: 'c', kind: 'source', turn: NaN }],
    edges: [{ from: 'a', to: 'zz' }, { from: 'c', to: 'b', kind: 'odd' }, {}, { from: 'b', to: 'b' }],
    paths: [{ nodes: ['zz', 'c', 'b'], sentence: 'x' }, {}],
  };
  const d = draw(odd, none);
  expect(d.shapes.map((s) => s.verdict)).toEqual(['refused', 'refused', '']);
  expect(d.shapes[2]?.trust).toBe(0);
  expect(d.lines).toHaveLength(1);
  expect(layout(input(d)).y.every((y) => Number.isFinite(y))).toBe(true);
  expect(draw({}, none).shapes).toEqual([]);
  expect(layout({ nodes: [], lines: [] }).bands).toEqual([]);
});

test('a source lights the way to the call that was stopped, in the words of the daemon', () => {
  const g = graphOf(20) as SessionGraphResponse;
  const d = draw(g, none);
  const way = g.paths?.[0];
  const source = d.at.get(way?.nodes?.at(-2) ?? '') as number;
  const call = d.at.get(way?.call ?? '') as number;
  for (const i of [source, call]) {
    const f = focusOn(d, i);
    expect(f.sentences).toContain(way?.sentence);
    expect(f.shapes.has(source) && f.shapes.has(call)).toBe(true);
    expect(f.lines.size).toBeGreaterThan(0);
  }
  expect(focusOn(d, 99999).shapes.size).toBe(1);
});

test('nothing is drawn over something else, and everything stands in its column', { timeout: 60_000 }, () => {
  for (const [n, all, by] of [[20, false, byDagre], [500, false, byDagre], [500, true, byDagre], [500, true, byMiddle], [5000, false, byDagre], [5000, true, byDagre]] as const) {
    const d = draw(graphOf(n), none, all);
    const at = layout(input(d), by);
    const last: Record<number, number> = {};
    const order = d.shapes.map((_, i) => i).sort((a, b) => (at.y[a] ?? 0) - (at.y[b] ?? 0));
    for (const i of order) {
      const x = at.x[i] ?? -1;
      if ((at.y[i] ?? 0) - (last[x] ?? -99) < size.height) throw new Error(`${n}: ${i} lies on another one`);
      last[x] = at.y[i] ?? 0;
    }
    if (n === 500) expect(layout(input(d), by).y).toEqual(at.y);
  }
});

const hostile = [
  '</text></svg><script>alert(1)</script>', '"><image href="https://evil.example/x.png"/>', "' onload='alert(1)", '&lt;script&gt;', '<![CDATA[ ]]>', '<!ENTITY x SYSTEM "file:///etc/passwd">',
  '<foreignObject><iframe src="javascript:alert(1)"/></foreignObject>', '\u202Etxt.exe', 'a\u200Bb', '\u0000\u0001\uFFFE\uD800', 'x'.repeat(1_000_000), 'url(javascript:alert(1))', '<?xml-stylesheet href="https://evil.example"?>', '<a xlink:href="https://evil.example">x</a>',
];

test('the file holds text of others as text, and nothing that runs, loads or links', { timeout: 30_000 }, () => {
  const nodes = hostile.flatMap((h, i) => [
    { id: `n${i}`, kind: 'source', name: h, trust: h, secrecy: h, turn: 1, origin: h },
    { id: `c${i}`, kind: 'call', name: h, line: h, verdict: h, reason: h, turn: 1 },
    { id: `f${i}`, kind: 'file', name: h, turn: 1 },
  ]);
  const edges = hostile.flatMap((h, i) => [{ from: `n${i}`, to: `c${i}`, kind: 'argument', argument: h }, { from: `c${i}`, to: `f${i}`, kind: h }]);
  const paths = hostile.map((h, i) => ({ call: `c${i}`, nodes: [`n${i}`, `c${i}`], sentence: h }));
  for (const h of hostile) {
    const d = draw({ nodes, edges, paths }, none, true);
    const svg = toSvg(d, layout(input(d)), h, h);
    expect(svg.length).toBeLessThan(200_000);
    const tags = [...svg.matchAll(/<\/?([^\s>/]+)/g)].map((m) => m[1]);
    expect([...new Set(tags)].sort()).toEqual(['g', 'path', 'rect', 'svg', 'text', 'title']);
    const attributes = [...svg.matchAll(/<[a-z]+((?: [a-z-]+="[^"<>]*")*) ?\/?>/gi)].flatMap((m) => [...(m[1] ?? '').matchAll(/ ([a-z-]+)="/gi)].map((a) => a[1]));
    const may = ['d', 'fill', 'font-family', 'font-size', 'font-weight', 'height', 'rx', 'stroke', 'stroke-dasharray', 'stroke-width', 'text-anchor', 'transform', 'viewBox', 'width', 'x', 'xmlns', 'y'];
    expect([...new Set(attributes)].filter((a) => !may.includes(a ?? ''))).toEqual([]);
    const text = svg.replace(/<[a-z]+(?: [a-zA-Z-]+="[^"<>]*")* ?\/?>|<\/[a-z]+>/g, '');
    expect(text).not.toMatch(/[<>"]/);
    expect(svg).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202A-\u202E\u200B-\u200F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/u);
  }
  expect(escape('&<>"\'')).toBe('&#38;&#60;&#62;&#34;&#39;');
});

test('places are known by their host or folder', () => {
  for (const [name, want] of [['web_fetch https://a.example/x/y?z', 'a.example'], ['https://a.example:81/', 'a.example:81'], ['/home/anna/src/a.ts', '/home/anna/src'], ['src/a.ts', 'src'], ['chat', 'chat'], ['', '']]) {
    expect(home(name ?? '')).toBe(want);
  }
});

test('a diff says what went and what came', () => {
  const signs = { same: ' ', gone: '-', new: '+', gap: '' };
  const said = (a: string, b: string): string => diff(a, b, 100).map((l) => signs[l.kind] + l.text).join('|');
  expect(said('a\nb\nc\n', 'a\nx\nc\n')).toBe(' a|-b|+x| c');
  expect(said('', 'a\nb')).toBe('+a|+b');
  expect(said('a\n', '')).toBe('-a');
  expect(said('a\nb\nc\nd\n', 'b\nc\ne\nd\n')).toBe('-a| b| c|+e| d');
  expect(diff('a\n', 'a\n')).toEqual([{ kind: 'gap', text: '', was: 1, now: 0 }]);
  expect(said('a', 'a\n')).toBe(' a|+(a line break at the end)');
  const long = Array.from({ length: 100 }, (_, i) => String(i)).join('\n');
  const cut = diff(long, long.replace('50', 'fifty'));
  expect(cut.filter((l) => l.kind === 'gap').map((l) => l.was)).toEqual([47, 46]);
  expect(cut.filter((l) => l.kind !== 'gap')).toHaveLength(8);
  const huge = Array.from({ length: 30_000 }, (_, i) => `a${i}`).join('\n');
  expect(diff(huge, huge.replaceAll('a', 'b'))).toHaveLength(60_000);
  expect(text(btoa('ä'))).toBeUndefined(); // not UTF-8
  expect(text(btoa('a\u0000b'))).toBeUndefined();
  expect(text('YQpi')).toBe('a\nb');
  expect(text(undefined)).toBe('');
});

test('vouching promises no more than it can keep', () => {
  const label = (trust: string) => ({ trust, secrecy: 'internal' });
  const sources = [
    { node: 0, digest: 'o', label: label('owner') },
    { node: 1, digest: 'page', label: label('untrusted') },
    { node: 2, digest: 'made', label: label('untrusted'), inputs: [1] },
    { node: 3, digest: 'mail', label: label('external') },
    { node: 4, digest: 'sum', label: label('untrusted'), whole: true },
  ];
  const mark = label('untrusted');
  expect([...dependent(sources, 'page')]).toEqual([1, 2, 4]);
  const p = afterEndorse(sources, mark, 'page');
  expect([p.now, p.upTo, p.because.map((s) => s.digest), p.made.map((s) => s.digest)]).toEqual(['untrusted', 'external', ['mail'], ['made', 'sum']]);
  expect(afterEndorse(sources, mark, 'mail').upTo).toBe('untrusted');
  expect(afterEndorse(sources.slice(0, 3), mark, 'page').upTo).toBe('local');
  // What is below the mark was cleared from the conversation, and holds nothing down.
  expect(afterEndorse(sources, label('external'), 'mail')).toMatchObject({ now: 'external', upTo: 'local' });
  // Never above local, and never above what it is by itself.
  expect(afterEndorse(sources, label('owner'), 'o').upTo).toBe('owner');
  expect(afterEndorse([], undefined, 'x').now).toBe('untrusted');
  expect(sources.map(canVouch)).toEqual([false, true, true, true, true]);
  expect(canVouch({ label: label('untrusted') })).toBe(false);
});

test('the same call that asks again is one question', () => {
  const call = { tool: { name: 'bash' }, argsDigest: 'a' };
  const asked = { decision: { verdict: 'confirm' }, action: call };
  expect(stopsInWords([asked, asked, { decision: { verdict: 'restrict' }, action: call }])).toBe('1 refused, 1 asked');
  expect(stopsInWords([asked, { ...asked, action: { ...call, argsDigest: 'b' } }, { ...asked, action: {} }, { ...asked, action: {} }])).toBe('4 asked');
});

test('what was done one time is not done «at once»', () => {
  const one = (effect: string) => ({ kind: 'decision' as const, at: 0, id: effect, d: { decision: { verdict: 'allow' }, action: { kind: 'call-tool', effects: [effect], tool: { name: 'x' }, arguments: [{ path: 'p', shown: 'y' }] } } });
  expect(inWords([one('observe')])).toBe('1 look');
  expect(inWords([one('observe'), one('observe'), one('write')])).toBe('looked at twice, 1 write');
});

test('what a command returned is named by the command', () => {
  const show = {
    decisions: [{ action: { call: 'c1', arguments: [{ path: 'command', shown: 'cat prices.md' }] } }, { action: { call: 'c2' } }],
    sources: [{ node: 1, call: 'c1', origin: { kind: 'tool', name: 'bash' } }, { node: 2, call: 'c2', origin: { kind: 'tool', name: 'bash' } }, { node: 3, call: 'c1', origin: { kind: 'sender' } }],
  };
  expect([...outputs(show)]).toEqual([[1, 'output of cat prices.md']]);
});
