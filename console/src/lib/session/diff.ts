// What changed in a file, line by line.

export interface DiffLine {
  sign: ' ' | '+' | '-';
  text: string;
  /** So many lines are left out here, which are the same. */
  skipped?: number;
}

const most = 2_000; // changed lines of one side that are compared one by one
const around = 3;

/** text reads bytes in base64 as text; undefined if they are none. */
export function text(base64: string | undefined): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64 ?? ''), (c) => c.charCodeAt(0));
    const s = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return s.includes('\u0000') ? undefined : s;
  } catch {
    return undefined;
  }
}

const split = (s: string): string[] => (s === '' ? [] : (s.endsWith('\n') ? s.slice(0, -1) : s).split('\n'));

/** diff says which lines went and which came. */
export function diff(before: string, after: string): DiffLine[] {
  const a = split(before);
  const b = split(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out: DiffLine[] = [];
  const same = (t: string | undefined): void => void out.push({ sign: ' ', text: t ?? '' });
  a.slice(0, head).forEach(same);
  const x = a.slice(head, a.length - tail);
  const y = b.slice(head, b.length - tail);
  if (x.length > most || y.length > most) {
    for (const t of x) out.push({ sign: '-', text: t });
    for (const t of y) out.push({ sign: '+', text: t });
  } else middle(x, y, out);
  a.slice(a.length - tail).forEach(same);
  if (before !== after && before !== '' && after !== '' && before.endsWith('\n') !== after.endsWith('\n')) out.push({ sign: after.endsWith('\n') ? '+' : '-', text: '(a line break at the end)' });
  return out;
}

/** middle finds the longest common lines. */
function middle(x: string[], y: string[], out: DiffLine[]): void {
  const width = y.length + 1;
  const long = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      long[i * width + j] = x[i] === y[j] ? (long[(i + 1) * width + j + 1] as number) + 1 : Math.max(long[(i + 1) * width + j] as number, long[i * width + j + 1] as number);
    }
  }
  let i = 0;
  let j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      out.push({ sign: ' ', text: x[i] ?? '' });
      i++;
      j++;
    } else if (i < x.length && (j >= y.length || (long[(i + 1) * width + j] as number) >= (long[i * width + j + 1] as number))) out.push({ sign: '-', text: x[i++] ?? '' });
    else out.push({ sign: '+', text: y[j++] ?? '' });
  }
}

/** context leaves out what is the same, but for some lines around each change. */
export function context(lines: DiffLine[]): DiffLine[] {
  const keep = new Uint8Array(lines.length);
  lines.forEach((l, i) => {
    if (l.sign !== ' ') keep.fill(1, Math.max(0, i - around), i + around + 1);
  });
  const out: DiffLine[] = [];
  let skipped = 0;
  const gap = (): void => {
    if (skipped > 0) out.push({ sign: ' ', text: '', skipped });
    skipped = 0;
  };
  lines.forEach((l, i) => {
    if (!keep[i]) {
      skipped++;
      return;
    }
    gap();
    out.push(l);
  });
  gap();
  return out;
}
