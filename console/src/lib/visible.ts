// Foreign text made safe to look at: what hides, reverses or breaks text is named, as
// floodmark.Visible does it in Go.

/** A Piece is text as it is, or a character that would not be seen, by its name. */
export interface Piece {
  text: string;
  named: boolean;
}

const letterlike = new Set([0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0]);
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Zs}\p{Variation_Selector}]/u;
const mark = /[\p{Mn}\p{Me}]/u;
const mostMarks = 3;
const mostSpaces = 3;

/** pieces splits a text. A line break stays one where lines are shown, after its name. */
export function pieces(text: string, lines = false): Piece[] {
  const out: Piece[] = [];
  let plain = '';
  let spaces = 0;
  let marks = 0;
  const flush = (): void => {
    if (plain !== '') out.push({ text: plain, named: false });
    plain = '';
  };
  const name = (n: string): void => {
    flush();
    out.push({ text: n, named: true });
  };
  const gap = (): void => {
    if (spaces > mostSpaces && !lines) name(`⟨${spaces} spaces⟩`);
    else if (spaces > 40) name(`⟨${spaces} spaces⟩`);
    else plain += ' '.repeat(spaces);
    spaces = 0;
  };
  for (const c of text) {
    if (c === ' ') {
      spaces++;
      continue;
    }
    gap();
    marks = mark.test(c) ? marks + 1 : 0;
    if (c === '\n') {
      name('⏎');
      if (lines) plain += '\n';
    } else if (c === '\t') name('⇥');
    else if (marks > mostMarks || letterlike.has(c.codePointAt(0) ?? 0) || unseen.test(c)) name(`⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
    else plain += c;
  }
  gap();
  flush();
  return out;
}

/** visible is the same as one string, for titles and file names. */
export const visible = (text: string): string => pieces(text).map((p) => p.text).join('');

/** A Cut is the beginning and the end of a text, because the end of an address matters as much. */
export interface Cut {
  head: string;
  gone: number;
  tail: string;
}

/** fits tells how much of a text, from its beginning, is shown as at most so many characters: the
 * name of a hidden one is up to ten. */
function fits(text: string, most: number): number {
  let at = 0;
  let left = most;
  let marks = 0;
  for (const c of text) {
    marks = mark.test(c) ? marks + 1 : 0;
    const named = marks > mostMarks || letterlike.has(c.codePointAt(0) ?? 0) || (!' \n\t'.includes(c) && unseen.test(c));
    left -= named ? 10 : c.length;
    if (left < 0) return at;
    at += c.length;
  }
  return at;
}

/** shorten keeps what is shown as at most so many characters, names of hidden ones counted, and
 * never half of a pair of UTF-16. */
export function shorten(text: string, most: number): Cut {
  const whole = text.length <= most && fits(text, most) === text.length;
  if (whole) return { head: text, gone: 0, tail: '' };
  const end = Math.floor(most / 3);
  const from = fits(text, most - end);
  const last = [...text.slice(Math.max(from, text.length - end))];
  if (/[\uDC00-\uDFFF]/.test(last[0] ?? '') && last[0]?.length === 1) last.shift();
  const to = text.length - fits(last.reverse().join(''), end);
  return { head: text.slice(0, from), gone: to - from, tail: text.slice(to) };
}

/** isWhole tells whether all of a text is shown where so many characters are. */
export const isWhole = (text: string, most: number): boolean => shorten(text, most).gone === 0;

/** A Part of a sentence of the daemon's: its own words, or words of others between “ and ”. */
export interface Part {
  text: string;
  foreign: boolean;
}

const mostParts = 40; // no sentence of the daemon's quotes so often: what follows is foreign

/** phrase takes a sentence apart. The daemon sees to it that nobody's words close the quotation
 * marks they stand in; a mark that is never closed makes all that follows foreign. */
export function phrase(line: string): Part[] {
  const out: Part[] = [];
  let at = 0;
  while (at < line.length) {
    if (out.length >= mostParts) {
      out.push({ text: line.slice(at), foreign: true });
      break;
    }
    const open = line.indexOf('“', at);
    if (open < 0) {
      out.push({ text: line.slice(at), foreign: false });
      break;
    }
    if (open > at) out.push({ text: line.slice(at, open), foreign: false });
    const close = line.indexOf('”', open);
    out.push({ text: line.slice(open + 1, close < 0 ? undefined : close), foreign: true });
    at = close < 0 ? line.length : close + 1;
  }
  return out;
}
