// What differs between two texts, line by line.

/** A Row is a line that stays, goes or comes; `gap` stands for lines that stay and are not shown. */
export interface Row {
  kind: 'same' | 'gone' | 'new' | 'gap';
  text: string;
  /** Its number before and after; 0 where it is not. Of a gap, how many lines it stands for. */
  was: number;
  now: number;
}

const mostSteps = 400; // texts that differ by more lines are shown as replaced

/** lines splits a text; a line break at its end begins no line. */
export const lines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** diff finds a shortest way from one text to another (Myers), with some lines around each change. */
export function diff(before: string, after: string, around = 3): Row[] {
  const a = lines(before);
  const b = lines(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const rows: Row[] = [];
  let x = 0;
  let y = 0;
  const add = (kind: 'same' | 'gone' | 'new'): void => {
    if (kind !== 'new') x++;
    if (kind !== 'gone') y++;
    rows.push({ kind, text: (kind === 'new' ? b[y - 1] : a[x - 1]) ?? '', was: kind === 'new' ? 0 : x, now: kind === 'gone' ? 0 : y });
  };
  for (let i = 0; i < head; i++) add('same');
  for (const kind of way(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) add(kind);
  for (let i = 0; i < tail; i++) add('same');
  const ends = after.endsWith('\n');
  if (before !== '' && after !== '' && before.endsWith('\n') !== ends) rows.push({ kind: ends ? 'new' : 'gone', text: '(a line break at the end)', was: 0, now: 0 });
  return fold(rows, around);
}

function way(a: string[], b: string[]): ('same' | 'gone' | 'new')[] {
  const all = (): ('gone' | 'new')[] => [...a.map((): 'gone' => 'gone'), ...b.map((): 'new' => 'new')];
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= a.length + b.length; d++) {
    if (d > mostSteps) return all();
    const next = new Map(reach);
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return back([...trace, reach], a.length, b.length);
    }
    trace.push(reach);
    // Only what the next step needs is kept: its diagonals.
    reach = new Map([...next].filter(([k]) => Math.abs(k) <= d + 1));
  }
  return all();
}

function back(trace: Map<number, number>[], n: number, m: number): ('same' | 'gone' | 'new')[] {
  const out: ('same' | 'gone' | 'new')[] = [];
  let x = n;
  let y = m;
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d] as Map<number, number>;
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const px = d === 0 ? 0 : (reach.get(from) ?? 0);
    const py = d === 0 ? 0 : px - from;
    while (x > px && y > py && x > 0 && y > 0) {
      out.push('same');
      x--;
      y--;
    }
    if (d > 0) out.push(down ? 'new' : 'gone');
    x = px;
    y = py;
  }
  return out.reverse();
}

/** fold leaves out what stays far from a change. */
function fold(rows: Row[], around: number): Row[] {
  const near = new Uint8Array(rows.length);
  rows.forEach((r, i) => r.kind !== 'same' && near.fill(1, Math.max(0, i - around), i + around + 1));
  const out: Row[] = [];
  rows.forEach((r, i) => {
    const last = out.at(-1);
    if (near[i]) out.push(r);
    else if (last?.kind === 'gap') last.was++;
    else out.push({ kind: 'gap', text: '', was: 1, now: 0 });
  });
  return out;
}

/** sizeOf counts the lines that come and go. */
export const sizeOf = (rows: Row[]): { gone: number; came: number } => ({ gone: rows.filter((r) => r.kind === 'gone').length, came: rows.filter((r) => r.kind === 'new').length });
