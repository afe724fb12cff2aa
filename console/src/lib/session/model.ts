// From a session's graph to what is drawn: what is alike in a turn becomes one shape, and quiet
// turns in a row become a pair, until a person opens them.

import { secrecyLevel, secrecyWord, trustLevel, trustWord } from '../format';
import type { GraphNode, SessionGraphResponse } from '../types';
import { shorten, visible } from '../visible';

export type Kind = 'source' | 'call' | 'answer' | 'file';
export type Word = 'allowed' | 'boxed' | 'asked' | 'checked' | 'refused';

/** A Shape is one thing that is drawn. All its words are safe to show. */
export interface Shape {
  id: string;
  kind: Kind;
  /** The nodes it stands for. */
  nodes: GraphNode[];
  count: number;
  title: string;
  note: string;
  /** The least trusted of it, 0 to 5; -1 where trust means nothing. */
  trust: number;
  verdict: Word | '';
  stopped: boolean;
  /** The first and the last turn it stands for. */
  turn: number;
  until: number;
  /** What to open to see its parts; empty if it has none. */
  opens: string;
  /** What to close so that it is folded again; empty if it was not folded. */
  folds: string;
}

export interface Line {
  from: number;
  to: number;
  kind: 'argument' | 'blame' | 'result' | 'made' | 'wrote';
  /** The arguments that content reached. */
  words: string;
}

export interface Way {
  shapes: number[];
  sentence: string;
}

export interface Drawing {
  shapes: Shape[];
  lines: Line[];
  /** Where a node of the graph is drawn. */
  at: Map<string, number>;
  ways: Way[];
  /** How many nodes there are before any are drawn as one. */
  all: number;
  left: number;
  /** There is so much that lines from turn to turn are only drawn for what has the focus. */
  calm: boolean;
}

/** A line that is only drawn for what has the focus: it would hide more than it shows. */
export const faint = (d: Drawing, l: Line): boolean =>
  l.kind === 'result' || (d.calm && d.shapes[l.from]?.turn !== d.shapes[l.to]?.turn && !(d.shapes[l.to]?.stopped && (l.kind === 'argument' || l.kind === 'blame')));

/** turnNames says what the turns are called that stand in one band. */
export function turnNames(d: Drawing): Map<number, string> {
  const until = new Map<number, number>();
  for (const s of d.shapes) if (s.kind !== 'file') until.set(s.turn, Math.max(until.get(s.turn) ?? 0, s.until));
  return new Map([...until].map(([t, u]) => [t, u > t ? `turns ${t} to ${u}` : `turn ${t}`]));
}

const fewLines = 60; // shapes between which all lines are drawn
const few = 40; // nodes that are drawn one by one
const many = 120; // nodes from which on quiet turns are drawn as one
const linesKind: Record<string, Line['kind']> = { argument: 'argument', blame: 'blame', result: 'result', made: 'made', wrote: 'wrote' };
const column: Record<Kind, number> = { source: 0, call: 1, answer: 1, file: 2 };

/** columnOf is 0 for what was read, 1 for what was done, 2 for files. */
export const columnOf = (s: Shape): number => column[s.kind];

/** kindOf takes a word that is not known for a call: it is shown where deeds are. */
export const kindOf = (n: GraphNode): Kind => (n.kind === 'source' || n.kind === 'file' || n.kind === 'answer' ? n.kind : 'call');

/** wordOf is the owner's word for a verdict; a word that is not known was no yes. */
export function wordOf(n: GraphNode): Word | '' {
  if (kindOf(n) === 'source' || kindOf(n) === 'file') return '';
  const words: Record<string, Word> = { allow: 'allowed', contain: 'boxed', confirm: 'asked', audit: 'checked' };
  return Object.hasOwn(words, n.verdict ?? '') ? (words[n.verdict ?? ''] as Word) : 'refused';
}

const wasStopped = (n: GraphNode): boolean => !['', 'allowed', 'boxed'].includes(wordOf(n));

/** home is what sources have in common that are read together: the host, or the folder. */
export function home(name: string): string {
  if (name.length > 2_000) return name.slice(0, 100);
  const host = /^(?:[a-z_]+ )?[a-z][a-z0-9+.-]*:\/\/([^/\s?#]+)/i.exec(name)?.[1];
  if (host) return host;
  const folder = /^(\/.*|~.*|[^\s/]+(?:\/.*)?)\/[^/]*$/.exec(name)?.[1];
  return folder ?? name;
}

const key = (n: GraphNode): string => {
  const kind = kindOf(n);
  if (kind === 'source') return `s ${trustLevel(n.trust)} ${n.secrecy ?? ''} ${home(n.name ?? '')}`;
  if (kind === 'file') return 'f';
  return `${kind} ${n.verdict ?? ''} ${n.name ?? ''} ${wasStopped(n) ? (n.line ?? '') : ''}`;
};

const turnOf = (n: GraphNode): number => Math.max(0, Number(n.turn) || 0);
const countOf = (n: GraphNode): number => Math.max(1, Number(n.count) || 1);
const sum = (nodes: GraphNode[]): number => nodes.reduce((a, n) => a + countOf(n), 0);
const short = (text: string, most: number): string => {
  const { head, gone, tail } = shorten(text, most);
  return visible(gone > 0 ? `${head}…${tail}` : text);
};
const things = (n: number, one: string, more = `${one}s`): string => `${n.toLocaleString('en')} ${n === 1 ? one : more}`;

/** shapeOf draws some nodes of one kind as one. */
function shapeOf(id: string, nodes: GraphNode[], opens: string, folds: string): Shape {
  const first = nodes[0] as GraphNode;
  const kind = kindOf(first);
  const count = sum(nodes);
  const alone = nodes.length === 1;
  const trust = kind === 'file' ? -1 : Math.min(...nodes.map((n) => trustLevel(n.trust)));
  const worst = nodes.find(wasStopped) ?? nodes.find((n) => wordOf(n) === 'boxed') ?? first;
  const shape: Shape = {
    id, kind, nodes, count, title: '', note: '', trust, verdict: wordOf(worst), stopped: nodes.some(wasStopped),
    turn: Math.min(...nodes.map(turnOf)), until: Math.max(...nodes.map(turnOf)), opens, folds,
  };
  const times = count > 1 && alone ? `${things(count, 'time')} · ` : '';
  if (kind === 'source') {
    const homes = new Set(nodes.map((n) => home(n.name ?? '')));
    shape.title = alone ? short(first.name || 'an unknown place', 120) : `${count.toLocaleString('en')} from ${homes.size === 1 ? short(homes.values().next().value ?? '', 100) : things(homes.size, 'place')}`;
    const least = nodes.reduce((a, n) => (trustLevel(n.trust) < trustLevel(a.trust) ? n : a));
    const most = nodes.reduce((a, n) => (secrecyLevel(n.secrecy) < secrecyLevel(a.secrecy) ? n : a));
    const mixed = nodes.some((n) => trustLevel(n.trust) !== trust);
    shape.note = `${times}${mixed ? 'down to ' : ''}${trustWord(least.trust)} · ${secrecyWord(most.secrecy)}`;
  } else if (kind === 'file') {
    shape.title = alone ? short(first.name || 'a file', 120) : things(count, 'file');
    shape.note = `${times}${alone ? 'file' : 'files'}`;
  } else {
    const tools = new Set(nodes.map((n) => n.name ?? ''));
    shape.title = alone || (shape.stopped && tools.size === 1) ? short(first.line || first.name || 'a call', 120) : `${things(count, kind === 'answer' ? 'answer' : 'call')}${tools.size === 1 && kind === 'call' ? ` of ${short(first.name ?? '', 80)}` : ''}`;
    if (!alone && shape.stopped) shape.title = `${count.toLocaleString('en')} × ${shape.title}`;
    const words = new Set(nodes.map(wordOf));
    shape.note = `${times}${[...words].join(', ')}${kind === 'answer' && alone ? ' · answer' : ''}`;
  }
  return shape;
}

/** draw says what is drawn when these keys are open; `all` opens everything. */
export function draw(graph: SessionGraphResponse, open: ReadonlySet<string>, all = false): Drawing {
  const nodes = (graph.nodes ?? []).filter((n) => typeof n.id === 'string' && n.id !== '');
  const known = new Set(nodes.map((n) => n.id));
  const onWay = new Set((graph.paths ?? []).flatMap((p) => p.nodes ?? []));
  const turns = new Map<number, GraphNode[]>();
  for (const n of nodes) {
    const t = turnOf(n);
    const list = turns.get(t);
    if (list) list.push(n);
    else turns.set(t, [n]);
  }
  const order = [...turns.keys()].sort((a, b) => a - b);
  const newest = order.at(-1);
  const quiet = (t: number): boolean => t !== newest && !(turns.get(t) ?? []).some((n) => wasStopped(n) || onWay.has(n.id ?? ''));
  const folding = !all && nodes.length > few;
  const shapes: Shape[] = [];
  const at = new Map<string, number>();
  const put = (s: Shape): void => {
    for (const n of s.nodes) at.set(n.id ?? '', shapes.length);
    shapes.push(s);
  };
  /** turnShapes draws one turn; `run` is the run of quiet turns that was opened to see it. */
  const turnShapes = (t: number, run: string): void => {
    const groups = new Map<string, GraphNode[]>();
    for (const n of turns.get(t) ?? []) {
      const k = folding ? `g ${t} ${key(n)}` : `n ${n.id}`;
      const list = groups.get(k);
      if (list) list.push(n);
      else groups.set(k, [n]);
    }
    for (const [k, list] of groups) {
      if (list.length > 1 && !open.has(k)) put(shapeOf(k, list, k, run));
      else for (const n of list) put(shapeOf(`n ${n.id}`, [n], '', list.length > 1 ? k : run));
    }
  };
  for (let i = 0; i < order.length; i++) {
    const from = order[i] as number;
    let j = i;
    while (folding && nodes.length > many && j < order.length && quiet(order[j] as number)) j++;
    const run = `q ${from}`;
    if (j - i < 2) {
      turnShapes(from, '');
      continue;
    }
    const list = order.slice(i, j).flatMap((t) => turns.get(t) ?? []);
    if (open.has(run)) for (const t of order.slice(i, j)) turnShapes(t, run);
    else {
      for (const col of [0, 1, 2]) {
        const part = list.filter((n) => column[kindOf(n)] === col);
        if (part.length > 0) put(shapeOf(`${run} ${col}`, col === 1 ? part.map((n) => ({ ...n, kind: 'call' })) : part, run, ''));
      }
    }
    i = j - 1;
  }

  const lines = new Map<string, Line>();
  for (const e of graph.edges ?? []) {
    const from = at.get(e.from ?? '');
    const to = at.get(e.to ?? '');
    if (from === undefined || to === undefined || from === to || !known.has(e.from)) continue;
    const kind = linesKind[e.kind ?? ''] ?? 'made';
    const k = `${from} ${to} ${kind}`;
    const words = short(e.argument ?? '', 60);
    const line = lines.get(k);
    if (!line) lines.set(k, { from, to, kind, words });
    else if (words !== '' && !line.words.split(', ').includes(words) && line.words.length < 80) line.words = line.words === '' ? words : `${line.words}, ${words}`;
  }
  const ways = (graph.paths ?? []).map((p): Way => {
    const on = (p.nodes ?? []).map((n) => at.get(n)).filter((n) => n !== undefined);
    return { shapes: on.filter((n, i) => i === 0 || on[i - 1] !== n), sentence: p.sentence ?? '' };
  });
  return { shapes, lines: [...lines.values()], at, ways, all: Math.max(Number(graph.all ?? 0) || 0, sum(nodes)), left: Number(graph.left ?? 0) || 0, calm: shapes.length > fewLines };
}

/** A Focus is what lights up with a shape: itself, what is on its ways, and the words for it. */
export interface Focus {
  shapes: Set<number>;
  lines: Set<number>;
  sentences: string[];
  /** Words of the page's own, where no content led to a call that was stopped. */
  plain: string;
}

/** focusOn follows a shape to the calls that were stopped; without one, to what it touches. */
export function focusOn(d: Drawing, i: number): Focus {
  const out: Focus = { shapes: new Set([i]), lines: new Set(), sentences: [], plain: '' };
  const s = d.shapes[i];
  if (!s) return out;
  const ways = d.ways.filter((w) => w.shapes.includes(i));
  const pairs = new Set<string>();
  for (const w of ways) {
    if (!out.sentences.includes(w.sentence)) out.sentences.push(w.sentence);
    w.shapes.forEach((n, k) => {
      out.shapes.add(n);
      const next = w.shapes[k + 1];
      if (next !== undefined) pairs.add(`${n} ${next}`);
    });
  }
  const touch = ways.length === 0 || ways.every((w) => w.shapes.length < 2);
  let read = 0;
  let went = 0;
  let wrote = 0;
  d.lines.forEach((l, k) => {
    if (touch && (l.from === i || l.to === i)) {
      out.lines.add(k);
      out.shapes.add(l.from).add(l.to);
    } else if (pairs.has(`${l.from} ${l.to}`)) out.lines.add(k);
    if (l.to === i && (l.kind === 'argument' || l.kind === 'made')) read++;
    if (l.from === i && l.kind === 'argument') went++;
    if (l.from === i && l.kind === 'wrote') wrote++;
  });
  const when = s.turn === s.until ? `in turn ${s.turn}` : `in turns ${s.turn} to ${s.until}`;
  if (s.kind === 'source') out.plain = `It came in ${when}. ${went === 0 ? 'No argument of a call holds a value of it' : `Values of it are in the arguments of ${went === 1 ? 'what it is joined with' : `${went} that are drawn`}`}.`;
  else if (s.kind === 'file') out.plain = `Written ${when}.`;
  else out.plain = `It was ${s.verdict || 'done'} ${when}. ${read === 0 ? 'No value in it came from what was read' : `Values in it came from ${things(read, 'source')} that ${read === 1 ? 'is' : 'are'} drawn`}${wrote > 0 ? `, and it wrote ${things(wrote, 'file')}` : ''}.`;
  return out;
}
