// Words for times, levels and deeds.

import type { Action, Answered, AskedCall, Decided, Incident, Label, Source, Time } from './types';
import { phrase } from './visible';

/** capital begins a sentence. */
export const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);

const number = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** span says how long some milliseconds are, roughly enough to be read in passing. */
export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172_800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86_400)} days`;
}

export const millis = (t: Time | undefined): number => (t === undefined ? NaN : Date.parse(t));

/** ago says how long ago something was. */
export function ago(t: Time | undefined, now: number): string {
  const at = millis(t);
  if (Number.isNaN(at)) return '';
  return now - at < 3_000 ? 'just now' : `${span(now - at)} ago`;
}

/** clock is the time of day, with the day if it is another one. */
export function clock(t: Time | undefined, now = Date.now()): string {
  const at = millis(t);
  if (Number.isNaN(at)) return '';
  const d = new Date(at);
  const time = d.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return new Date(now).toDateString() === d.toDateString() ? time : `${d.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })}, ${time}`;
}

const trusts = ['untrusted', 'external', 'shared', 'local', 'owner', 'system'];
const secrecies = ['secret', 'private', 'internal', 'public'];

/** trustLevel is 0 for `untrusted` and for every word that is not known. */
export const trustLevel = (word: string | undefined): number => Math.max(0, trusts.indexOf(word ?? ''));
export const secrecyLevel = (word: string | undefined): number => Math.max(0, secrecies.indexOf(word ?? ''));
export const trustWord = (word: string | undefined): string => trusts[trustLevel(word)] ?? 'untrusted';
export const secrecyWord = (word: string | undefined): string => secrecies[secrecyLevel(word)] ?? 'secret';

const trustMeans = ['anyone can write there', 'known senders outside', 'other agents and groups', 'your own files and commands', 'you, speaking directly', 'the shipped prompt and configuration'];
const secrecyMeans = ['keys and passwords', 'your own data', "your organisation's", 'anyone may see it'];

/** means explains a mark, for a title. */
export const means = (l: Label | undefined): string =>
  `The least trusted it has read: ${trustMeans[trustLevel(l?.trust)]}. The most guarded it has read: ${secrecyMeans[secrecyLevel(l?.secrecy)]}.`;

/** folder is the last part of a path. */
export const folder = (path: string | undefined): string => (path ?? '').replace(/\/+$/, '').split('/').pop() || (path ?? '');

/** A Deed is what an agent did or wanted, in words: ours, and then those of others. */
export interface Deed {
  words: string;
  quote: string;
}

const past: Record<string, string> = { admin: 'changed settings with', run: 'ran', send: 'sent something to', change: 'changed', write: 'wrote', fetch: 'fetched', observe: 'looked at' };
const wanted: Record<string, string> = { admin: 'change settings with', run: 'run', send: 'send something to', change: 'change', write: 'write', fetch: 'fetch', observe: 'look at' };

/** verdictWord is what was decided, in one word of the owner's. */
export function verdictWord(d: Decided): 'allowed' | 'boxed' | 'asked' | 'checked' | 'refused' {
  switch (d.decision?.verdict) {
    case 'allow':
      return d.decision.reach === 'boxed' || d.box ? 'boxed' : 'allowed';
    case 'confirm':
      return 'asked';
    case 'audit':
      return 'checked';
    default:
      return 'refused';
  }
}

/** deed tells one decision in words. */
export function deed(d: Decided): Deed {
  const a: Action = d.action ?? {};
  const done = verdictWord(d) === 'allowed' || verdictWord(d) === 'boxed';
  if (a.kind === 'send-reply') return { words: done ? 'replied' : 'wanted to reply', quote: '' };
  if (a.kind === 'call-model') return { words: 'asked its model', quote: '' };
  if (a.kind === 'spawn-agent') return { words: done ? 'began another session' : 'wanted to begin another session', quote: '' };
  const effect = a.effects?.[0] ?? '';
  const verb = done ? (past[effect] ?? 'used') : `wanted to ${wanted[effect] ?? 'use'}`;
  const tool = a.tool?.name ?? '';
  const command = d.box?.command || a.arguments?.find((x) => x.path === 'command' || x.path === 'script' || x.path === 'cmd')?.shown;
  if (command) return { words: verdictWord(d) === 'boxed' ? 'ran in a box' : effect === 'run' ? verb : `${done ? 'ran' : 'wanted to run'}`, quote: command };
  const shown = (a.arguments ?? []).filter((x) => x.path !== 'action').map((x) => listed(x.shown)).filter((x) => x);
  if (shown.length === 0) return { words: done ? 'used' : 'wanted to use', quote: tool };
  return { words: verb, quote: `${shown.slice(0, 2).join(', ')} (${tool})` };
}

/** listed tells a list of texts without its brackets. */
function listed(shown: string | undefined): string {
  if (!shown?.startsWith('["')) return shown ?? '';
  try {
    const list: unknown = JSON.parse(shown);
    return Array.isArray(list) && list.every((x) => typeof x === 'string') ? list.join(', ') : shown;
  } catch {
    return shown;
  }
}

/** place names a source as a person would. */
export function place(s: Source): string {
  const o = s.origin ?? {};
  if (o.isOwner) return 'your message';
  if (o.kind === 'history' && o.name === 'other content of that session') return 'more that the earlier session had read';
  return o.place || o.sender || o.group || [o.name, o.server].filter((x) => x).join(' of ') || o.kind || 'an unknown place';
}

/** answered says how a question was answered, and by whom. */
export function answered(a: Answered): string {
  const how = a.verdict === 'allow' ? 'Approved' : a.verdict === 'confirm' ? 'Ended without an answer' : 'Denied';
  const where = a.channel ? ` (${a.channel})` : '';
  return a.by || a.channel ? `${how} by ${a.by || 'someone'}${where}` : how;
}

/** versionWords names a version as a person would. A program that was built from no release has only
 * the commit, and where Go wrote one down, its day. */
export function versionWords(line: string | undefined): string {
  const [, version = '', rest = ''] = /^(?:floodmark )?(\S*)([^]*)$/.exec(line ?? '') ?? [];
  const changed = /\+dirty|, modified\)/.test(line ?? '') ? ', with changes' : '';
  const made = /^v\d+\.\d+\.\d+-(?:[\w.]+\.)?(\d{4})(\d\d)(\d\d)\d{6}-([0-9a-f]{12})(?:\+\w+)?$/.exec(version);
  if (made) return `Floodmark, built from commit ${made[4]?.slice(0, 8)} of ${made[1]}-${made[2]}-${made[3]}${changed}`;
  const release = /^v?(\d+\.\d+\.\d+(?:-[\w.]+)?)(?:\+\w+)?$/.exec(version);
  if (release) return `Floodmark v${release[1]}${changed}`;
  const commit = /\(commit ([0-9a-f]{8})/.exec(rest);
  if (commit) return `Floodmark, built from commit ${commit[1]}${changed}`;
  return /\b(devel|unknown)\b/.test(line ?? '') ? 'Floodmark, built from a work tree' : 'Floodmark';
}

/** noteWords tells a note of the daemon's without the kind that it is kept under and without digests. */
export function noteWords(line: string, caller: string | undefined): string {
  const said = line
    .replace(/^policy-saved: digest \w+ of the text, by /, 'New rules were saved by ')
    .replace(/^policy-changed: another policy holds from now on: digest \w+$/, 'Other rules hold from now on')
    .replace(/^[a-z]+(-[a-z]+)+: /, '');
  return said.replace(/\bby user \d+\b/, (by) => `by ${who(by.slice(3), caller)}`);
}

const acts = ['policy-saved', 'policy-rolled-back', 'policy-loaded', 'undo', 'definition-accepted', 'definition-rejected', 'definition-forgotten', 'copy-forgotten'];

/** ownAct says whether an incident is what a person did by hand: history, and nothing that went wrong. */
export const ownAct = (i: Incident): boolean => acts.includes(i.kind ?? '');

/** actWords says what a person did by hand, without the kind and without digests. */
export function actWords(i: Incident, caller: string | undefined): string {
  const said = (i.text ?? '').replace(/\bby user \d+\b/, (by) => `by ${who(by.slice(3), caller)}`);
  const by = /\bby (.+)$/.exec(said)?.[1] ?? '';
  switch (i.kind) {
    case 'policy-saved':
      return `Rules saved${by && ` by ${by}`}`;
    case 'policy-rolled-back':
      return `An earlier version of the rules saved again${by && ` by ${by}`}`;
    case 'policy-loaded':
      return 'The saved rules are in force';
    case 'undo':
      return `Undone: ${said}`;
    default:
      return `${(i.kind ?? '').replace('-', ' ')}: ${said}`;
  }
}

/** isLimit tells a limit of this installation that always holds from what a person can act on, as `floodmark status` does. */
export const isLimit = (line: string): boolean => /^(user mode: |the signed heads lie |«floodmark protect» changed the rules)/.test(line);

/** A Sent is one line of what a push would send: what a commit says, a line of a file, or what both are of. */
export interface Sent {
  kind: 'about' | 'says' | 'same' | 'gone' | 'new';
  sign: string;
  text: string;
  /** So many spaces stand at its end. */
  ends: number;
}

/** reviewed reads the lines of the daemon's review: those of others have two spaces, a sign and a space before them. */
export const reviewed = (lines: string[]): Sent[] =>
  lines.map((line) => {
    const [, sign = '', text = line] = /^ {2}([-+| ]) ([^]*)$/.exec(line) ?? [];
    const kind = ({ '+': 'new', '-': 'gone', '|': 'says', ' ': 'same' } as const)[sign] ?? 'about';
    const bare = text.replace(/ +$/, '');
    return { kind, sign: sign === '-' ? '−' : sign, text: bare, ends: text.length - bare.length };
  });

/** So many lines of a push, and characters of one, are shown at once. */
export const mostSent = 300;
export const longestSent = 2_000;

/** fitsAtOnce says whether all lines of a push are shown at once. */
export const fitsAtOnce = (lines: string[]): boolean => lines.length <= mostSent && lines.every((l) => l.length <= longestSent);

/** A Told is what a card says apart from its first two lines. */
export interface Told {
  /** What may go wrong: it is read first. */
  warnings: string[];
  lines: string[];
}

const warns = '(!) ';

/** told leaves out of a card's lines what the card shows elsewhere: the push, and the command if it is the one in the title. */
export function told(c: AskedCall): Told {
  const all = (c.card ?? []).slice(1);
  const diff = c.diff ?? [];
  const at = diff.length === 0 ? -1 : all.findIndex((l, i) => l === diff[0] && diff.every((d, n) => all[i + n] === d));
  if (at >= 0) all.splice(at, diff.length);
  const title = phrase(c.what || c.line || '').at(-1);
  const lines: string[] = [];
  all.forEach((line, i) => {
    const [name, value, more] = phrase(line);
    if (title?.foreign && value?.foreign && more === undefined && value.text === title.text && name?.text.toLowerCase() === 'command: ') {
      if (/^ {3}(?!\(!\))/.test(all[i + 1] ?? '')) all[i + 1] = `Command: ${(all[i + 1] ?? '').trim()}`;
    } else lines.push(all[i] ?? line);
  });
  const unseen = phrase(c.what ?? '').some((p) => !p.foreign && p.text.includes('has not looked at what it sends'));
  const warnings = lines.filter((l) => l.startsWith(warns)).map((l) => l.slice(warns.length));
  return { warnings: unseen ? ['What it pushes is not shown here: look at it yourself before you say yes.', ...warnings] : warnings, lines: lines.filter((l) => !l.startsWith(warns)) };
}

/** warned tells whether a card has something that may go wrong. */
export const warned = (c: AskedCall): boolean => told(c).warnings.length > 0 || (c.why ?? '').startsWith(warns);

/** shortId is the end of a session's name that `floodmark why` understands: what no other listed one begins with. */
export function shortId(id: string, all: string[]): string {
  const bare = (s: string): string => s.slice(s.indexOf(':') + 1);
  const own = bare(id);
  const others = all.filter((o) => o !== id).map(bare);
  let n = 8;
  while (n < own.length && others.some((o) => o.startsWith(own.slice(0, n)))) n++;
  return own.slice(0, n);
}

/** who is a person's name, or you: a number of a user says nothing to its owner. */
export const who = (name: string, caller: string | undefined): string => (name === caller && /^user \d+$/.test(name) ? 'you' : name);

/** cameFrom tells where content came from, and the files by which it came, without digests and names of sessions. */
export function cameFrom(origin: string): string {
  const [first = '', ...files] = origin.replace(/, digest [0-9a-f]+$/, '').split(' -> ').map((p) => p.replace(/ \(session [^()]*\)/, ''));
  const last = files.at(-1)?.replace(/^file /, '');
  return last === undefined ? first : `${first}, by way of ${last}`;
}

/** behindWords tells what was behind a call in words: the first source, and how many more there are. */
export function behindWords(origins: string[] | undefined): string {
  const all = [...new Set((origins ?? []).map(sourceWords))];
  return all.length === 0 ? '' : `${all[0]}${all.length > 1 ? `, and ${number(all.length - 1, 'more source')}` : ''}`;
}

/** sourceWords tells of one source which file held it, and which command had brought it there. A form
 * that is not known is told as it is. */
export function sourceWords(origin: string): string {
  const parts = origin.replace(/, digest [0-9a-f]+$/, '').split(' -> ').map((p) => p.replace(/ \(session [^()]*\)/, ''));
  const [, read = '', level = ''] = /^(?:bash|shell|exec_command)(?: ([~/]\S*))? \((\w+)\)$/i.exec(parts[0] ?? '') ?? [];
  const file = /^file (.+)$/.exec(parts.at(-1) ?? '')?.[1];
  if (level === '' || (parts.length > 1 && file === undefined)) return cameFrom(origin);
  const command = read ? `a command that had read ${folder(read)} (${level})` : `a command whose output is ${level}`;
  return file === undefined ? (read ? `the output of ${command}` : `the output of a command (${level})`) : `the file ${file}, changed by ${command}`;
}

/** within names a file of a project by its path in it. */
export const within = (project: string | undefined, name: string | undefined): string | undefined =>
  project && name?.startsWith(`${project}/`) ? name.slice(project.length + 1) : name;

export const count = (n: string | number | undefined): number => Number(n ?? 0) || 0;
export { number };
