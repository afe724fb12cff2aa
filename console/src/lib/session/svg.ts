// The drawing as a file of its own: shapes and text, and nothing that runs, loads or links.

import { shorten, visible } from '../visible';
import { columnOf, faint, turnNames, type Drawing, type Shape } from './model';
import { size, type LayoutOutput } from './layout';

/** escape makes any text safe inside an element and in quotes. What XML cannot hold is named before. */
export function escape(text: string): string {
  return visible(text).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** clip cuts a text to a width in characters. */
const clip = (text: string, most: number): string => {
  const { head, gone, tail } = shorten(text, most - 1);
  return visible(gone > 0 ? `${head}…${tail}` : head);
};
const n = (x: number): string => String(Math.round(x * 10) / 10);

const ink = '#1d2124';
const soft = '#5a6167';
const warn = '#8f4a06';
const bad = '#b3261e';
const rule = '#dcd9d1';
const sans = 'system-ui, sans-serif';

function words(x: number, y: number, text: string, more = `fill="${ink}" font-size="12"`): string {
  return `<text x="${n(x)}" y="${n(y)}" ${more}>${escape(text)}</text>`;
}

/** sign is the shape that tells a level without its colour. */
function sign(s: Shape, x: number, y: number): string {
  if (s.kind === 'source') {
    const full = s.trust < 3 ? warn : soft;
    return [0, 1, 2, 3, 4].map((i) => `<rect x="${n(x + i * 4)}" y="${n(y + 8 - i * 1.8)}" width="2.6" height="${n(i * 1.8 + 3)}" fill="${i < s.trust ? full : 'none'}" stroke="${full}" stroke-width="0.7"/>`).join('');
  }
  const d: Record<string, string> = {
    allowed: 'M1 6 L5 10 L12 1', boxed: 'M1 1 H11 V11 H1 Z M4 4 H8 V8 H4 Z', asked: 'M6 -0.5 a6.5 6.5 0 1 0 0.01 0 Z M4 4.4 a2 2 0 1 1 2 2.4 v0.8 M6 9.4 v0.3', checked: 'M6 0 L11 2 V6 Q11 10 6 12 Q1 10 1 6 V2 Z', refused: 'M1 1 L11 11 M11 1 L1 11',
    file: 'M2 0 H8 L11 3 V12 H2 Z M8 0 V3 H11',
  };
  const path = d[s.kind === 'file' ? 'file' : s.verdict || 'refused'] ?? '';
  const colour = s.verdict === 'refused' ? bad : s.stopped ? warn : soft;
  return `<path d="${path}" transform="translate(${n(x)} ${n(y)})" fill="none" stroke="${colour}" stroke-width="1.6"/>`;
}

/** toSvg draws everything with the colours of paper. */
export function toSvg(d: Drawing, at: LayoutOutput, title: string, note: string): string {
  const sentences = [...new Set(d.ways.map((w) => w.sentence))].slice(0, 30);
  const wide = size.total;
  const tall = at.height + (sentences.length > 0 ? 40 + sentences.length * 18 : 0) + 30;
  const out: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${n(tall + 50)}" width="${wide}" height="${n(tall + 50)}" font-family="${sans}">`,
    `<title>${escape(clip(title, 200))}</title>`,
    `<rect width="${wide}" height="${n(tall + 50)}" fill="#ffffff"/>`,
    words(30, 28, clip(title, 110), `fill="${ink}" font-size="16" font-weight="600"`),
    words(30, 46, clip(note, 230), `fill="${soft}" font-size="12"`),
    '<g transform="translate(0 50)">',
  ];
  ['What it read', 'What it did', 'Files it wrote'].forEach((t, i) => out.push(words(size.x[i as 0 | 1 | 2], 24, t, `fill="${soft}" font-size="12" font-weight="600"`)));
  const names = turnNames(d);
  for (const b of at.bands) {
    out.push(`<path d="M30 ${n(b.top - 15)} H${wide - 30}" stroke="${rule}" stroke-width="1"/>`);
    out.push(words(wide - 30, b.top - 4, names.get(b.turn) ?? `turn ${b.turn}`, `fill="${soft}" font-size="11" text-anchor="end"`));
  }
  const mid = (i: number): number => (at.y[i] ?? 0) + size.height / 2;
  const right = (i: number): number => (at.x[i] ?? 0) + size.width[columnOf(d.shapes[i] as Shape) as 0 | 1 | 2];
  for (const l of d.lines) {
    if (faint(d, l)) continue;
    const [x, y, u, v] = [right(l.from), mid(l.from), at.x[l.to] ?? 0, mid(l.to)];
    const same = u < x;
    const bend = same ? 60 : Math.max(40, (u - x) / 2);
    const path = same ? `M${n(at.x[l.from] ?? 0)} ${n(y)} C${n((at.x[l.from] ?? 0) - 26)} ${n(y)} ${n(u - 26)} ${n(v)} ${n(u)} ${n(v)}` : `M${n(x)} ${n(y)} C${n(x + bend)} ${n(y)} ${n(u - bend)} ${n(v)} ${n(u)} ${n(v)}`;
    const stops = (d.shapes[l.to] as Shape).stopped && (l.kind === 'argument' || l.kind === 'blame');
    out.push(`<path d="${path}" fill="none" stroke="${stops ? bad : '#9aa0a6'}" stroke-width="${stops ? 1.8 : 1}"${l.kind === 'blame' || l.kind === 'made' ? ' stroke-dasharray="4 3"' : ''}/>`);
  }
  d.shapes.forEach((s, i) => {
    const x = at.x[i] ?? 0;
    const y = at.y[i] ?? 0;
    const w = size.width[columnOf(s) as 0 | 1 | 2];
    if (s.opens !== '') out.push(`<rect x="${n(x + 4)}" y="${n(y + 4)}" width="${w}" height="${size.height}" rx="6" fill="#f7f6f3" stroke="${rule}"/>`);
    out.push(`<rect x="${n(x)}" y="${n(y)}" width="${w}" height="${size.height}" rx="${s.kind === 'source' ? 20 : s.kind === 'file' ? 2 : 6}" fill="${s.kind === 'source' ? '#f6efdf' : '#ffffff'}" stroke="${s.stopped ? bad : s.kind === 'source' ? '#c9ad74' : rule}" stroke-width="${s.stopped ? 2 : 1}"/>`);
    out.push(sign(s, x + 12, y + 14));
    out.push(words(x + 38, y + 18, clip(s.title, Math.floor((w - 50) / 6.4))));
    out.push(words(x + 38, y + 33, clip(s.note, Math.floor((w - 50) / 5.6)), `fill="${soft}" font-size="11"`));
  });
  sentences.forEach((t, i) => out.push(words(30, at.height + 24 + i * 18, clip(t, 170), `fill="${ink}" font-size="12"`)));
  out.push('</g>', words(30, tall + 36, 'Floodmark', `fill="${soft}" font-size="11"`), '</svg>');
  return `${out.join('\n')}\n`;
}
