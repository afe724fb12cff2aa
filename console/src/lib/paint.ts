// The colours of a policy in the editor: its keys, its comments and what would not be seen.

export interface Stroke {
  text: string;
  kind: '' | 'key' | 'note' | 'hid';
}

const hides = /[^\P{C}\t\n]|[\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;
const each = new RegExp(hides.source, 'gu');

/** paint takes a line apart. Its strokes are the line again. */
export function paint(line: string): Stroke[] {
  const note = /(^|\s)#.*$/.exec(line);
  const body = note ? line.slice(0, note.index) : line;
  const out: Stroke[] = [];
  let at = 0;
  for (const m of body.matchAll(/("[^"]*"|'[^']*'|[^\s{}[\],:"']+)(?=:(\s|$))/g)) {
    out.push(...plain(body.slice(at, m.index), ''), ...plain(m[0], 'key'));
    at = m.index + m[0].length;
  }
  out.push(...plain(body.slice(at), ''), ...plain(line.slice(body.length), 'note'));
  return out;
}

function plain(text: string, kind: Stroke['kind']): Stroke[] {
  const out: Stroke[] = [];
  let at = 0;
  for (const m of text.matchAll(each)) {
    if (m.index > at) out.push({ text: text.slice(at, m.index), kind });
    out.push({ text: m[0], kind: 'hid' });
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push({ text: text.slice(at), kind });
  return out;
}

/** hidden lists the lines that hold characters which would not be seen, from 1, with their names. */
export function hidden(text: string): { line: number; names: string }[] {
  const out: { line: number; names: string }[] = [];
  if (!hides.test(text)) return out;
  text.split('\n').forEach((l, i) => {
    const names = new Set([...l.matchAll(each)].map((m) => `U+${(m[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`));
    if (names.size > 0 && out.length < 100) out.push({ line: i + 1, names: [...names].slice(0, 8).join(', ') });
  });
  return out;
}
