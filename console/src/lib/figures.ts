// Numbers in words, and the shape of a chart.

import type { DidDay, DidResponse, RulesDifference, RulesTrial } from './desks';
import { count, who } from './format';
import type { Count } from './types';

/** many is a number with its thousands apart. */
export const many = (n: Count | undefined): string => count(n).toLocaleString('en');

/** counted is a number with its thing: `1 call`, `1,200 calls`. */
export const counted = (n: Count | undefined, what: string): string => `${many(n)} ${what}${count(n) === 1 ? '' : 's'}`;

/** times says how often. */
export const times = (n: number): string => (n === 1 ? 'once' : n === 2 ? 'twice' : `${many(n)} times`);

export const lastDays = (days: number): string => (days === 1 ? 'the last 24 hours' : `the last ${days} days`);

/** words are the two answers of a difference. A box is told apart in its line only. */
export function words(d: RulesDifference): { was: string; would: string } {
  const [, was = '', would = ''] = /^([a-z-]+)\b.*? -> ([a-z-]+)\b/.exec(d.line ?? '') ?? [];
  const known = (w: string, verdict: string | undefined): string => (w in verdicts && !(w === 'allow' && verdict !== 'allow') ? w : (verdict ?? ''));
  return { was: known(was, d.was), would: (d.would ?? '') === '' ? '' : known(would, d.would) };
}

/** unboxed says whether a command ran in a box and would run outside of it. */
export function unboxed(d: RulesDifference): boolean {
  const { was, would } = words(d);
  return was.startsWith('contain') && would === 'allow';
}

/** freer says whether a call would get further than it did. Those are shown first. */
export const freer = (d: RulesDifference): boolean => d.looser === true || unboxed(d);

const order = ['restrict', 'confirm', 'audit', 'contain-else-audit', 'contain', 'allow'];

/** stricter says whether a call would be held or stopped that was not. */
export function stricter(d: RulesDifference): boolean {
  const { was, would } = words(d);
  return would !== '' && order.indexOf(would) < order.indexOf(was);
}

/** TrialWords are what a trial found. */
export interface TrialWords {
  asked: string;
  /** What it says of calls that would get further, empty if there are none: it must not be overlooked. */
  further: string;
  looser: number;
  /** What it says of calls of which it cannot be told. */
  doubt: string;
  /** How many of them may get further: those that did not simply run. */
  may: number;
  /** Each call was judged again, and none would get further. */
  sure: boolean;
  stricter: string;
}

export function trialWords(t: RulesTrial, days: number): TrialWords {
  const was = count(t.questionsWas);
  const would = count(t.questionsWould);
  const asked = would === was
    ? was === 0 ? 'asked nothing, as before' : `asked as often as before, ${times(was)}`
    : `asked ${many(Math.abs(was - would))} ${would < was ? 'fewer' : 'more'} question${Math.abs(was - would) === 1 ? '' : 's'} (${many(would)} instead of ${many(was)})`;
  const list = t.differences ?? [];
  const free = list.filter(freer);
  const looser = Math.max(count(t.looser), free.length);
  const does = free.length > 0 && free.every(unboxed) ? 'run outside the box' : free.some(unboxed) || free.some((d) => d.would !== 'allow') ? 'got further' : 'gone through';
  const held = Math.max(count(t.stricter), list.filter(stricter).length);
  const asks = list.filter((d) => stricter(d) && words(d).would === 'confirm').length;
  const untold = Math.max(count(t.cannotTell), list.filter((d) => (d.would ?? '') === '').length);
  const may = Math.max(0, untold - list.filter((d) => (d.would ?? '') === '' && words(d).was === 'allow').length);
  const more = looser > 0 ? 'more ' : '';
  const [these, they] = may === 1 ? ['call', 'it'] : ['calls', 'they'];
  return {
    looser,
    may,
    asked: `In ${lastDays(days)} this would have ${asked}`,
    further: looser === 0 ? '' : `${looser === 1 ? 'this call' : `these ${many(looser)} calls`} would have ${does}`,
    doubt: untold === 0 ? '' : may > 0 ? `of ${many(may)} ${more}${these} it cannot be told: ${they} may get further` : `of ${counted(untold, 'call')} that ran it cannot be told: ${untold === 1 ? 'it' : 'they'} may be held or stopped`,
    sure: looser === 0 && untold === 0 && count(t.unread) === 0 && !t.stopped,
    stricter: held === 0 ? '' : `${counted(held, 'call')} would have been held or stopped${asks === 0 ? '' : asks === held ? ', with a question' : `, ${many(asks)} of them with a question`}`,
  };
}

/** trialSentence is the same in one sentence. */
export function trialSentence(t: RulesTrial, days: number): string {
  const w = trialWords(t, days);
  if (w.further !== '') return `${w.asked}, and ${w.further}:`;
  if (w.doubt !== '') return `${w.asked}, and ${w.doubt}.`;
  return `${w.asked}, and ${w.sure ? 'no call would have got further' : 'none of the calls that were judged would have got further'}.`;
}

/** saveWords are those of the button that saves what lets calls get further, empty if nothing does. */
export function saveWords(w: TrialWords): string {
  if (w.looser > 0) return `Save. Calls like ${w.looser === 1 ? 'this one' : `these ${many(w.looser)}`} will ${/box$/.test(w.further) ? 'run outside the box' : / through$/.test(w.further) ? 'run' : 'get further'} from now on`;
  return w.may > 0 ? `Save. ${counted(w.may, 'call')} of which it cannot be told may get further` : '';
}

/** whyNot says in plain words why of a call it cannot be told. */
export function whyNot(why: string | undefined): string {
  const text = why ?? '';
  const rule = /^the rule (.+) looks at the value of an argument/.exec(text)?.[1];
  if (rule !== undefined) return `Your rule ${rule} looks at words of the call, and the journal does not hold them`;
  if (/^what the call is now depends on the value of /.test(text)) return 'The tool was described otherwise when this was recorded, and what the call would be now depends on words of it that the journal does not hold';
  if (/^it was recorded without what it followed from/.test(text)) return 'An older version of Floodmark recorded them, without what the answer followed from';
  if (/^a source came from another session/.test(text)) return 'Something came from another session, and what it would be trusted now is not known';
  if (/^a result came in without a decision/.test(text)) return 'A result came in that no call had asked for, and what it would be trusted now is not known';
  if (/^other content is (secret|private) now/.test(text)) return `Other content would be ${/secret/.test(text) ? 'secret' : 'private'} now, and whether the call holds some of it was not kept`;
  return sentence(text);
}

/** A Group are differences with the same two answers for the same reason. */
export interface Group {
  first: RulesDifference;
  all: RulesDifference[];
}

export function grouped(list: RulesDifference[]): Group[] {
  const by = new Map<string, Group>();
  for (const d of list) {
    const w = words(d);
    const key = JSON.stringify(w.would === '' ? ['', w.was, whyNot(d.why)] : [w.was, w.would, d.text, d.rule]);
    const g = by.get(key);
    if (g) g.all.push(d);
    else by.set(key, { first: d, all: [d] });
  }
  return [...by.values()];
}

const verdicts: Record<string, string> = { allow: 'runs', contain: 'runs in a box', 'contain-else-audit': 'runs in a box, or is checked', audit: 'is checked', confirm: 'asks you', restrict: 'is refused' };

/** verdict is an answer in words; one that is not known is a refusal. */
export const verdict = (v: string | undefined): string => verdicts[v ?? ''] ?? 'is refused';

/** A Bar is a day of the chart. */
export interface Bar {
  day: string;
  n: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** A name below it, where there is room. */
  label: string;
}

export interface Chart {
  bars: Bar[];
  ticks: { n: number; y: number }[];
  most: number;
}

/** top rounds a number up to one that can be halved and is easily read. */
export function top(n: number): number {
  if (n <= 2) return 2;
  const ten = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 6, 8, 10].map((f) => f * ten).find((x) => x >= n && x % 2 === 0) ?? ten * 10;
}

/** chart places bars in a field of some size. */
export function chart(days: DidDay[], width: number, height: number): Chart {
  const most = Math.max(0, ...days.map((d) => count(d.asked)));
  const high = top(most);
  const step = width / Math.max(1, days.length);
  const wide = Math.max(1, Math.min(step * 0.72, 44));
  const every = Math.max(1, Math.ceil(52 / step));
  const bars = days.map((d, i): Bar => {
    const n = Math.max(0, count(d.asked));
    const h = (n / high) * height;
    return { day: d.day ?? '', n, x: i * step + (step - wide) / 2, y: height - h, width: wide, height: h, label: (days.length - 1 - i) % every === 0 ? dayName(d.day) : '' };
  });
  return { bars, most, ticks: [0, high / 2, high].map((n) => ({ n, y: height - (n / high) * height })) };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** dayName says `2026-01-31` as `31 Jan`; anything else is no day. */
export function dayName(day: string | undefined): string {
  const [, month, date] = /^\d{4}-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  const name = months[Number(month) - 1];
  return name === undefined ? '' : `${Number(date)} ${name}`;
}

/** answersWords says how questions were answered: `19 yes, 3 no`. */
export const answersWords = (d: DidResponse): string => inWords([[d.yes, 'yes'], [d.no, 'no']]);

/** unanswered says what became of the other questions: `1 expired, 1 still open`. */
export const unanswered = (d: DidResponse): string => inWords([[d.expired, 'expired'], [d.voided, 'ended by itself'], [d.waiting, 'still open']]);

function inWords(parts: [Count | undefined, string][]): string {
  return parts.filter(([n]) => count(n) > 0).map(([n, what]) => `${many(n)} ${what}`).join(', ');
}

/** A Because is why a call was stopped: the harm that is said loud, if there is one, and the rest. */
export interface Because {
  loud: string;
  rest: string;
}

const harms: Record<string, string> = {
  'code from a place that you did not name would have run': 'Code from a place that you did not name would have run.',
  'who can log in to this machine would have changed': 'Who can log in to this machine would have changed.',
  'a key would have been read': 'A key would have been read.',
};

/** because tells the harm of a call first, and who refused it. */
export function because(why: string | undefined, secret: boolean, caller: string | undefined): Because {
  const [harm = '', ...more] = (why ?? '').split(': ');
  const known = Object.hasOwn(harms, harm);
  const rest = known ? more.join(': ') : (why ?? '');
  const by = /^refused by (.+)$/.exec(rest)?.[1];
  return {
    loud: known ? (harms[harm] ?? '') : secret ? 'A secret would have left.' : '',
    rest: by === undefined ? (rest === 'the owner refused this call' ? 'It was refused by hand.' : full(rest)) : who(by, caller) === 'you' ? 'You refused it.' : `${by} refused it.`,
  };
}

/** sinceFirst leaves out the days before the first one on which something happened. */
export function sinceFirst(days: DidDay[]): DidDay[] {
  const first = days.findIndex((d) => count(d.asked) + count(d.stopped) + count(d.contained) > 0);
  return first < 0 ? days : days.slice(first);
}

/** full is a sentence with its end. */
export const full = (line: string | undefined): string => sentence(line).replace(/([^.!?:])$/, '$1.');

/** noLine says why no line would spare questions, without the code of a reason. */
export const noLine = (why: string | undefined): string =>
  (why ?? '').replace(/(not only the table asked): [a-z-]+/, '$1').replace(/\. nothing: /, '. ').split('. ').map((s) => sentence(s)).join('. ');

/** isUnoffered says whether no line is offered because the source was behind something that was stopped. */
export const isUnoffered = (why: string | undefined): boolean => /^no line is offered: something that this source/.test(why ?? '');

/** sentence begins what the daemon says with a capital. */
export const sentence = (line: string | undefined): string => (line ?? '').replace(/^[a-z]/, (c) => c.toUpperCase());

