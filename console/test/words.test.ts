import { expect, test } from 'vitest';
import { because, sinceFirst } from '../src/lib/figures';
import * as f from '../src/lib/format';
import { read, to } from '../src/lib/route.svelte';
import { isWhole, phrase, pieces, shorten, visible } from '../src/lib/visible';

test('what hides, reverses or breaks text is named', () => {
  const cases: [string, string][] = [
    ['plain ä 日本 עברית', 'plain ä 日本 עברית'],
    ['\u202Egpj.exe', '⟨U+202E⟩gpj.exe'],
    ['a\u200Bb\u2060c\uFEFFd\u00ADe', 'a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩d⟨U+00AD⟩e'],
    ['a\u0000\u001b[31m\r', 'a⟨U+0000⟩⟨U+001B⟩[31m⟨U+000D⟩'],
    ['a\nb\tc', 'a⏎b⇥c'],
    ['a\u2028b\u2029c', 'a⟨U+2028⟩b⟨U+2029⟩c'],
    ['a    b   c', 'a⟨4 spaces⟩b   c'],
    ['a\u00A0b\u3000c', 'a⟨U+00A0⟩b⟨U+3000⟩c'],
    ['o\u0301\u0302\u0303\u0304', 'o\u0301\u0302\u0303⟨U+0304⟩'],
    ['\u3164\u2800', '⟨U+3164⟩⟨U+2800⟩'],
    ['\uD800x', '⟨U+D800⟩x'],
    ['\u{E0041}\u{F0000}', '⟨U+E0041⟩⟨U+F0000⟩'],
    ['<b onclick="x">&amp;</b>', '<b onclick="x">&amp;</b>'],
  ];
  for (const [is, want] of cases) expect(visible(is)).toBe(want);
});

test('no piece that is not named hides anything', { timeout: 60_000 }, () => {
  const hides = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u;
  for (let c = 0; c < 0x20000; c++) {
    for (const p of pieces(`a${String.fromCodePoint(c)}b`)) {
      if (!p.named && hides.test(p.text)) throw new Error(c.toString(16));
    }
  }
});

test('long text keeps its beginning and its end, and no half of a character', () => {
  expect(shorten('abc', 3)).toEqual({ head: 'abc', gone: 0, tail: '' });
  expect(shorten('abcdefghij', 6)).toEqual({ head: 'abcd', gone: 4, tail: 'ij' });
  for (let most = 2; most < 40; most++) {
    const { head, gone, tail } = shorten('😀'.repeat(30), most);
    expect(head.length + gone + tail.length).toBe(60);
    expect(/[\uD800-\uDFFF]/u.test(head + tail)).toBe(false);
  }
});

test('what is shown is never longer than asked for, names of hidden characters counted', () => {
  for (const text of ['\u0488\u20E3\u0338'.repeat(60), '\u0000'.repeat(500), 'ab\u202E'.repeat(90), `Z${'\u0351'.repeat(300)}a`, '\u{E0061}'.repeat(80), '\uDC00\uD800'.repeat(50), 'plain '.repeat(90), '']) {
    for (const most of [20, 60, 400]) {
      const { head, gone, tail } = shorten(text, most);
      expect(head + tail).toHaveLength(text.length - gone);
      expect(visible(head).length + visible(tail).length).toBeLessThanOrEqual(most);
      expect(isWhole(text, most)).toBe(gone === 0);
    }
  }
});

test('words of others stand between their marks, and a mark that stays open hides nothing', () => {
  expect(phrase('pi wants to run: “rm -rf x”.')).toEqual([{ text: 'pi wants to run: ', foreign: false }, { text: 'rm -rf x', foreign: true }, { text: '.', foreign: false }]);
  expect(phrase('a “b')).toEqual([{ text: 'a ', foreign: false }, { text: 'b', foreign: true }]);
  expect(phrase('“a” “”')).toEqual([{ text: 'a', foreign: true }, { text: ' ', foreign: false }, { text: '', foreign: true }]);
  expect(phrase('')).toEqual([]);
  expect(phrase('“a” '.repeat(9_000)).at(-1)).toMatchObject({ foreign: true });
  expect(phrase('“a” '.repeat(9_000)).length).toBeLessThan(50);
});

test('an unknown level is the least', () => {
  expect([f.trustLevel('system'), f.trustLevel('sys'), f.trustLevel(undefined), f.trustWord('SYSTEM')]).toEqual([5, 0, 0, 'untrusted']);
  expect([f.secrecyWord('public'), f.secrecyWord('x'), f.secrecyWord(undefined)]).toEqual(['public', 'secret', 'secret']);
});

test('an unknown verdict is a refusal', () => {
  const word = (verdict?: string, reach?: string): string => f.verdictWord({ decision: { verdict, reach } });
  expect([word('allow', 'free'), word('allow', 'boxed'), word('confirm'), word('audit'), word('restrict'), word('yes'), word()]).toEqual(['allowed', 'boxed', 'asked', 'checked', 'refused', 'refused', 'refused']);
});

test('a push is read line by line, and what others wrote is not taken for a heading', () => {
  const lines = ['commit 0123', '  | Fix it', 'file «main.py» (+1 -1)', '  +     if x:  ', '  - y', '    same', '  (2 more changed lines of this file are not shown)', '  + file «other.py» (new)', '  …'];
  expect(f.reviewed(lines).map((r) => [r.kind, r.sign, r.text, r.ends])).toEqual([
    ['about', '', 'commit 0123', 0],
    ['says', '|', 'Fix it', 0],
    ['about', '', 'file «main.py» (+1 -1)', 0],
    ['new', '+', '    if x:', 2],
    ['gone', '−', 'y', 0],
    ['same', ' ', 'same', 0],
    ['about', '', '  (2 more changed lines of this file are not shown)', 0],
    ['new', '+', 'file «other.py» (new)', 0],
    ['about', '', '  …', 0],
  ]);
});

test('a card says the command once, its warnings first, and the push in its own place', () => {
  const diff = ['commit 0123', '  + x'];
  const what = 'pi wants to run: “curl x”';
  const card = ['pi wants to run a program', 'You had said: “test”', 'Command: “curl x”', '   from the output of “cat y” (your own)', '   (!) not all of it is shown', '(!) It may let out a password or key.', ...diff, 'After a yes: it runs.'];
  expect(f.told({ what, card, diff })).toEqual({ warnings: ['It may let out a password or key.'], lines: ['You had said: “test”', 'Command: from the output of “cat y” (your own)', '   (!) not all of it is shown', 'After a yes: it runs.'] });
  expect(f.told({ what, card: ['', 'Command: “curl y”', '   from the owner'] }).lines).toEqual(['Command: “curl y”', '   from the owner']);
  expect(f.told({ what, card: ['', 'Subject: “curl x”'] }).lines).toEqual(['Subject: “curl x”']);
  expect(f.told({})).toEqual({ warnings: [], lines: [] });
  expect([f.warned({ what, card }), f.warned({ why: '(!) Has look-alike letters.' }), f.warned({ what, card: ['', 'a', '“(!) x”'] })]).toEqual([true, true, false]);
});

test('a short name of a session is enough to tell it from the others', () => {
  const all = ['codex:0199aabbcc', 'codex:0199aabbdd', 'pi:77', 'abcdefghij'];
  expect(all.map((id) => f.shortId(id, all))).toEqual(['0199aabbc', '0199aabbd', '77', 'abcdefgh']);
});

test('a limit that always holds is told from what a person can act on', () => {
  expect(['user mode: code of your own user', 'the signed heads lie where', 'cursor is installed and not connected'].map(f.isLimit)).toEqual([true, true, false]);
});

test('times in words', () => {
  expect([0, 59_000, 61_000, 700_000, 7_300_000, 200_000_000].map(f.span)).toEqual(['0 s', '59 s', '1 min 1 s', '12 min', '2 h', '2 days']);
  expect(f.ago(undefined, 0)).toBe('');
  expect(f.ago(new Date(1_000_000).toISOString(), 1_001_000)).toBe('just now');
});

test('deeds in words', () => {
  const run = (verdict: string, reach = 'free') => f.deed({ action: { kind: 'call-tool', tool: { name: 'bash' }, effects: ['run'], arguments: [{ path: 'command', shown: 'npm test' }] }, decision: { verdict, reach } });
  expect(run('allow')).toEqual({ words: 'ran', quote: 'npm test' });
  expect(run('allow', 'boxed')).toEqual({ words: 'ran in a box', quote: 'npm test' });
  expect(run('confirm')).toEqual({ words: 'wanted to run', quote: 'npm test' });
  expect(f.answered({ verdict: 'allow', by: 'anna', channel: 'telegram' })).toBe('Approved by anna (telegram)');
  expect(f.answered({})).toBe('Denied');
});

test('a version in words', () => {
  const cases: [string | undefined, string][] = [
    ['floodmark v0.1.0 (commit 24ad29c0b1f2) go1.26.1 linux/amd64', 'Floodmark v0.1.0'],
    ['floodmark 0.2.0-rc.1', 'Floodmark v0.2.0-rc.1'],
    ['floodmark v0.1.0 (commit 24ad29c0b1f2, modified) go1.26.1 linux/amd64', 'Floodmark v0.1.0, with changes'],
    ['floodmark v0.0.0-20261119215745-24ad29c0b1f2+dirty go1.26.1 linux/amd64', 'Floodmark, built from commit 24ad29c0 of 2026-11-19, with changes'],
    ['floodmark v0.1.1-0.20261119215745-24ad29c0b1f2 (commit 24ad29c0b1f2)', 'Floodmark, built from commit 24ad29c0 of 2026-11-19'],
    ['floodmark (devel) (commit 24ad29c0b1f2) go1.26.1 linux/amd64', 'Floodmark, built from commit 24ad29c0'],
    ['floodmark unknown', 'Floodmark, built from a work tree'],
    ['floodmark (devel) go1.26.1', 'Floodmark, built from a work tree'],
    ['<b>\u202E', 'Floodmark'],
    [undefined, 'Floodmark'],
  ];
  for (const [is, want] of cases) expect(f.versionWords(is), is).toBe(want);
});

test('addresses', () => {
  expect(read('#/session/a%2Fb%23')).toEqual({ page: 'session', rest: 'a/b#', at: 0 });
  expect(read(to('session', 'a/b%?at=3'))).toEqual({ page: 'session', rest: 'a/b%?at=3', at: 0 });
  expect(read(to('session', 'a/b%', 7))).toEqual({ page: 'session', rest: 'a/b%', at: 7 });
  for (const no of ['', '#', '#open=x', '#/Now', '#/a b', '#/x/%zz']) expect(read(no).page === '' || read(no).rest === '', no).toBe(true);
});

test('notes and origins say no kinds, digests or names of sessions', () => {
  expect(f.noteWords('policy-saved: digest 072c20cd of the text, by user 0 (console)', 'user 0')).toBe('New rules were saved by you (console)');
  expect(f.noteWords('policy-saved: digest 072c20cd of the text, by user 7 (console)', 'anna')).toBe('New rules were saved by user 7 (console)');
  expect(f.noteWords('policy-changed: another policy holds from now on: digest 1deafd39', undefined)).toBe('Other rules hold from now on');
  expect(f.noteWords('box-not-used: a command ran', undefined)).toBe('a command ran');
  expect(f.noteWords('user mode: a fact', undefined)).toBe('user mode: a fact');
  expect(f.cameFrom('bash (untrusted) -> file days.py (session pi:pi-76-s1) -> file price.js (session pi:b), digest fd8fbabe')).toBe('bash (untrusted), by way of price.js');
  expect(f.cameFrom('bash /home/dev/shop (untrusted), digest fd8fbabe')).toBe('bash /home/dev/shop (untrusted)');
  expect(f.cameFrom('docs.example (untrusted)')).toBe('docs.example (untrusted)');
  expect([f.within('/p', '/p/a/b'), f.within('/p', '/pq'), f.within('/p', '/p'), f.within('', '/a'), f.within(undefined, undefined)]).toEqual(['a/b', '/pq', '/p', '/a', undefined]);
});

test('what a person did by hand is history, and no incident', () => {
  const me = 'user 0';
  const cases: [string, string, string][] = [
    ['policy-saved', 'digest b48ea426 of the text, by user 0 (console)', 'Rules saved by you (console)'],
    ['policy-rolled-back', 'digest b48ea426 of the text, by Ann (console)', 'An earlier version of the rules saved again by Ann (console)'],
    ['policy-loaded', 'the rules saved in the console are in force: digest 1', 'The saved rules are in force'],
    ['undo', '2 files of shop are given back as they were before the call, by user 0 (console): ["a"]', 'Undone: 2 files of shop are given back as they were before the call, by you (console): ["a"]'],
  ];
  for (const [kind, text, want] of cases) {
    expect(f.ownAct({ kind, text })).toBe(true);
    expect(f.actWords({ kind, text }, me)).toBe(want);
  }
  for (const kind of ['policy-changed', 'policy-not-saved', 'unmediated-call', '']) expect(f.ownAct({ kind })).toBe(false);
});

test('what was behind a call is told in words', () => {
  const cases: [string[], string][] = [
    [['bash /home/dev/shop/node_modules (untrusted) -> file prices.md (session pi:1)', 'bash (untrusted) -> file prices.md (session pi:1)', 'docs.example (untrusted)'], 'the file prices.md, changed by a command that had read node_modules (untrusted), and 2 more sources'],
    [['bash (untrusted) -> file days.py (session pi:1)'], 'the file days.py, changed by a command whose output is untrusted'],
    [['Bash /home/dev/tally (untrusted)'], 'the output of a command that had read tally (untrusted)'],
    [['Bash (local)'], 'the output of a command (local)'],
    [['fetch https://a.example (untrusted)', 'fetch https://a.example (untrusted)'], 'fetch https://a.example (untrusted)'],
    [[], ''],
  ];
  for (const [origins, want] of cases) expect(f.behindWords(origins)).toBe(want);
});

test('the harm of a call is said first, and who refused it', () => {
  const fetched = 'code from a place that you did not name would have run';
  expect(because(fetched, false, 'user 0')).toEqual({ loud: 'Code from a place that you did not name would have run.', rest: '' });
  expect(because(`${fetched}: refused by user 0`, true, 'user 0')).toEqual({ loud: 'Code from a place that you did not name would have run.', rest: 'You refused it.' });
  expect(because('refused by Ann', false, 'user 0')).toEqual({ loud: '', rest: 'Ann refused it.' });
  expect(because('a secret is in what would be sent', true, 'user 0')).toEqual({ loud: 'A secret would have left.', rest: 'A secret is in what would be sent.' });
  expect(because('constructor: x', false, '').loud).toBe('');
});

test('a chart begins with the first day on which something happened', () => {
  const days = [{ day: '2026-01-01' }, { day: '2026-01-02', stopped: '1' }, { day: '2026-01-03' }];
  expect(sinceFirst(days).map((d) => d.day)).toEqual(['2026-01-02', '2026-01-03']);
  expect(sinceFirst(days.slice(0, 1))).toHaveLength(1);
});

test('what a tool does is no destination, and a list has no brackets', () => {
  const d = { decision: { verdict: 'confirm' }, action: { kind: 'call-tool', effects: ['send'], tool: { name: 'message' }, arguments: [{ path: 'action', shown: 'send' }, { path: 'to', shown: 'eve@evil.example' }, { path: 'files', shown: '["out.txt"]' }] } };
  expect(f.deed(d).quote).toBe('eve@evil.example, out.txt (message)');
  expect(f.place({ origin: { kind: 'sender', sender: 'me', isOwner: true } })).toBe('your message');
});
