// What happened in a session, turn by turn.

import { answered, deed, millis, verdictWord } from '../format';
import type { Action, Answered, Decided, GraphNode, Incident, Question, SessionGraphResponse, ShowResponse, ToolRef } from '../types';

export type Event =
  | { kind: 'decision'; at: number; id: string; d: Decided }
  | { kind: 'source'; at: number; id: string; n: GraphNode }
  | { kind: 'incident'; at: number; id: string; i: Incident }
  | { kind: 'question'; at: number; id: string; q: Question };

/** A Row is an event, or several in a row of which none needs a look. */
export type Row = Event | { kind: 'quiet'; at: number; id: string; events: Event[]; words: string };

export interface Turn {
  turn: number;
  from: number;
  rows: Row[];
  /** How many were refused or asked, in words; empty if none was. */
  stopped: string;
}

const calm = (e: Event): boolean => e.kind === 'source' || (e.kind === 'decision' && verdictWord(e.d) === 'allowed');

/** timeline puts everything in order, the newest turn first, and within a turn the oldest first. */
export function timeline(show: ShowResponse, graph: SessionGraphResponse | undefined): Turn[] {
  const events: Event[] = [];
  (show.decisions ?? []).forEach((d, i) => {
    if (d.action?.kind !== 'call-model') events.push({ kind: 'decision', at: millis(d.at) || 0, id: `d ${d.id ?? i}`, d });
  });
  (show.incidents ?? []).forEach((i, n) => events.push({ kind: 'incident', at: millis(i.at) || 0, id: `i ${n}`, i }));
  (show.pending ?? []).forEach((q, n) => events.push({ kind: 'question', at: millis(q.asked) || 0, id: `q ${n} ${q.ticket ?? ''}`, q }));
  const begins = new Map<number, number>();
  for (const n of graph?.nodes ?? []) {
    const at = millis(n.at) || 0;
    const turn = Number(n.turn) || 0;
    if (at > 0 && at < (begins.get(turn) ?? Infinity)) begins.set(turn, at);
    if (n.kind === 'source') events.push({ kind: 'source', at, id: `s ${n.id ?? ''}`, n });
  }
  const starts = [...begins.entries()].sort((a, b) => a[1] - b[1]);
  events.sort((a, b) => a.at - b.at);
  const turns = new Map<number, Event[]>();
  let k = -1;
  for (const e of events) {
    while (k + 1 < starts.length && (starts[k + 1]?.[1] ?? Infinity) <= e.at) k++;
    const turn = e.kind === 'source' ? Number(e.n.turn) || 0 : (starts[Math.max(0, k)]?.[0] ?? 0);
    const list = turns.get(turn);
    if (list) list.push(e);
    else turns.set(turn, [e]);
  }
  return [...turns.entries()]
    .sort((a, b) => b[0] - a[0])
    .map(([turn, list]) => ({ turn, from: list[0]?.at ?? 0, rows: rows(list), stopped: stopsInWords(list.filter((e) => e.kind === 'decision').map((e) => e.d)) }));
}

/** outputs names what commands returned by the command, where it is recorded: several are only «bash». */
export function outputs(show: ShowResponse): Map<number, string> {
  const commands = new Map<string, string>();
  for (const d of show.decisions ?? []) {
    const said = d.box?.command || d.action?.arguments?.find((x) => x.path === 'command' || x.path === 'script' || x.path === 'cmd')?.shown;
    if (d.action?.call && said) commands.set(d.action.call, said);
  }
  const out = new Map<number, string>();
  for (const s of show.sources ?? []) {
    const command = s.call ? commands.get(s.call) : undefined;
    if (command !== undefined && s.origin?.kind === 'tool') out.set(s.node ?? -1, `output of ${command}`);
  }
  return out;
}

/** stopsInWords counts what was not simply allowed: `2 refused, 1 asked`. The same call that asks again
 * is one question. */
export function stopsInWords(all: Decided[]): string {
  const seen = new Set<string>();
  const list = all.filter((d) => {
    const a = d.action;
    if (verdictWord(d) !== 'asked' || (a?.argsDigest ?? '') === '') return true;
    const call = JSON.stringify([a?.tool?.server, a?.tool?.name, a?.argsDigest]);
    return !seen.has(call) && seen.add(call);
  });
  return (['refused', 'asked', 'checked'] as const)
    .map((word) => [list.filter((d) => verdictWord(d) === word).length, word] as const)
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${n} ${word}`)
    .join(', ');
}

const same = (a: Action | undefined, b: { tool?: ToolRef; argsDigest?: string } | undefined): boolean =>
  (a?.argsDigest ?? '') !== '' && a?.argsDigest === b?.argsDigest && a?.tool?.name === b?.tool?.name && a?.tool?.server === b?.tool?.server;

/** outcome says what became of a question, as far as the session's data has it. `ended` are the
 * questions that ended while the page was open. */
export function outcome(d: Decided, show: ShowResponse, ended: { q: Question; by?: Answered | undefined }[]): string {
  if (verdictWord(d) !== 'asked') return '';
  const of = (q: Question): boolean => (q.calls ?? []).some((c) => same(d.action, c.action));
  if ((show.pending ?? []).some(of)) return 'still open';
  const by = ended.find((c) => c.by !== undefined && of(c.q))?.by;
  if (by) return answered(by);
  if ((show.grants ?? []).some((g) => same(d.action, g))) return 'answered yes, and the yes still holds';
  const later = (show.decisions ?? []).some((x) => x !== d && same(d.action, x.action) && millis(x.at) > millis(d.at) && ['allowed', 'boxed'].includes(verdictWord(x)));
  if (later) return 'the same call ran later';
  return (d.action?.argsDigest ?? '') !== '' ? 'no longer open' : '';
}

const fewest = 4; // quiet events in a row that become one line

function rows(list: Event[]): Row[] {
  const out: Row[] = [];
  for (let i = 0; i < list.length; ) {
    let j = i;
    while (j < list.length && calm(list[j] as Event)) j++;
    if (j - i >= fewest) {
      const events = list.slice(i, j);
      out.push({ kind: 'quiet', at: events[0]?.at ?? 0, id: `z ${events[0]?.id ?? ''}`, events, words: inWords(events) });
    } else out.push(...list.slice(i, j));
    if (j < list.length) out.push(list[j] as Event);
    i = j + 1;
  }
  return out;
}

/** wordsOnce says that something was done one time: «once» alone could mean «at once». */
const wordsOnce = (w: string): string => ({ 'looked at': '1 look', ran: '1 run', wrote: '1 write', fetched: '1 fetch', replied: '1 reply', changed: '1 change' })[w] ?? `${w} one time`;

/** inWords sums up what was allowed: «looked at 7, fetched 3, read 9 sources». */
export function inWords(events: Event[]): string {
  const deeds = new Map<string, number>();
  let read = 0;
  for (const e of events) {
    if (e.kind === 'source') read++;
    else if (e.kind === 'decision') {
      const { words } = deed(e.d);
      deeds.set(words, (deeds.get(words) ?? 0) + 1);
    }
  }
  const parts = [...deeds.entries()].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([w, n]) => (n === 1 ? wordsOnce(w) : `${w} ${n === 2 ? 'twice' : `${n} times`}`));
  if (read > 0) parts.push(`${read} ${read === 1 ? 'source' : 'sources'} came in`);
  return parts.join(', ');
}
