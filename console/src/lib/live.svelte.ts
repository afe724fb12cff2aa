// What the daemon tells, as all pages see it: read once, then kept up to date by a stream.

import * as api from './api';
import { millis, ownAct } from './format';
import type { Answered, Decided, Incident, Question, Session, StatusResponse, WatchResponse } from './types';

export type State = 'closed' | 'starting' | 'live' | 'lost';

/** A Card is a question on the page, with what became of it. */
export interface Card {
  q: Question;
  /** How it was answered, where that is known. */
  by?: Answered | undefined;
  /** It is no longer open, and nobody said why. */
  gone?: boolean;
  /** When it left the open ones. */
  ended?: number;
  /** When it came or changed: a key pressed sooner was meant for something else. */
  since: number;
}

export interface Boxed {
  session: string;
  agent: string;
  d: Decided;
}

/** keyOf tells questions apart. Machines choose the tickets of theirs, and one may choose another's. */
export const keyOf = (q: Question): string => JSON.stringify([q.session ?? '', q.ticket ?? '']);

const keepEnded = 20_000;
const mostBoxed = 40;
const mostSessions = 60;
const readAgain = 1_000; // at most one reading of everything in this time

class Live {
  state = $state<State>('starting');
  /** The page is logged in, so its parts may ask the daemon. */
  begun = $state(false);
  /** The monitor was stopped, and this page with it. */
  ended = $state(false);
  /** Why there is nothing, or nothing new. */
  why = $state('');
  /** Why what is shown may be old although the stream stands; empty if it is not. */
  stale = $state('');
  /** When the stream is tried again. */
  again = $state<number>();
  now = $state(Date.now());
  loaded = $state(false);
  cards = $state.raw<Card[]>([]);
  sessions = $state.raw<Session[]>([]);
  last = $state.raw<Record<string, Decided>>({});
  boxed = $state.raw<Boxed[]>([]);
  incidents = $state.raw<Incident[]>([]);
  unread = $state.raw<string[]>([]);
  status = $state.raw<StatusResponse>({});
  missed = $state(0);
  /** When a question last moved on the page: what is pressed soon after was meant for another one. */
  moved = $state(0);

  /** What is open and not kept back for quiet hours. */
  open = $derived(this.cards.filter((c) => c.ended === undefined && !(millis(c.q.held) > this.now)));
  /** Why nothing can be answered here; empty if it can. */
  onlyShows = $state('');
  /** Without a word of the daemon's it may not. */
  mayApprove = $derived(this.onlyShows === '' && (this.status.may?.includes('approve') ?? false));

  #stop: AbortController | undefined;
  #queue: WatchResponse[] = [];
  #flush: ReturnType<typeof setTimeout> | undefined;
  #reading = false;
  #stale = false;
  #hears = new Set<(m: WatchResponse) => void>();

  /** start opens the stream; it runs until the tab is closed or no longer let in. */
  start(): void {
    this.#stop?.abort();
    const stop = (this.#stop = new AbortController());
    this.state = 'starting';
    this.onlyShows = api.onlyShows();
    this.begun = true;
    setInterval(() => this.#tick(), 1_000);
    const follower: api.Follower<WatchResponse> = {
      live: () => {
        this.state = 'live';
        this.again = undefined;
        void this.#read();
      },
      message: (m) => {
        this.#queue.push(m);
        this.#flush ??= setTimeout(() => this.#take(), 50);
      },
      lost: (why, again) => {
        if (again === undefined) {
          this.ended = why.code === api.ended;
          this.close(this.ended ? '' : why.message);
          return;
        }
        this.state = 'lost';
        this.why = why.message;
        this.again = Date.now() + again;
      },
    };
    void api.watch(follower, stop.signal);
  }

  /** close ends the page: it needs a new link. */
  close(why: string): void {
    this.#stop?.abort();
    api.forgetToken();
    this.state = 'closed';
    this.why = why;
    this.cards = [];
    this.sessions = [];
    this.boxed = [];
    this.loaded = false;
  }

  /** logOut ends the page, and its token at the daemon. */
  logOut(): void {
    this.#stop?.abort();
    api.logout().catch(() => undefined);
    this.close('');
  }

  /** hear tells a page of everything that happens, until the returned function is called. */
  hear(f: (m: WatchResponse) => void): () => void {
    this.#hears.add(f);
    return () => this.#hears.delete(f);
  }

  /** refresh reads everything again, soon. */
  refresh(): void {
    void this.#read();
  }

  /** shift says that questions have just moved on the page. */
  shift(): void {
    this.moved = Date.now();
  }

  /** settle says how a card of this page was answered. */
  settle(q: Question, by: Answered): void {
    this.#place(this.cards.map((c) => (keyOf(c.q) === keyOf(q) ? { ...c, by, ended: Date.now() } : c)));
  }

  /** dismiss takes an ended card away. */
  dismiss(q: Question): void {
    this.#place(this.cards.filter((c) => keyOf(c.q) !== keyOf(q) || c.ended === undefined));
  }

  async #read(): Promise<void> {
    if (this.#reading) {
      this.#stale = true;
      return;
    }
    this.#reading = true;
    this.#stale = false;
    try {
      const [pending, status, sessions] = await Promise.all([api.pending(), api.status(), api.sessions({ limit: 30, open: true })]);
      this.#questions(pending.questions ?? []);
      this.unread = pending.unread ?? [];
      this.status = status;
      this.sessions = sessions.sessions ?? [];
      this.stale = '';
      this.loaded = true;
      this.#lasts();
    } catch (e) {
      if (e instanceof api.ApiError && e.final) this.close(e.message);
      else {
        this.stale = e instanceof Error ? e.message : String(e);
        this.#stale = true;
      }
    }
    setTimeout(() => {
      this.#reading = false;
      if (this.#stale) void this.#read();
    }, readAgain);
  }

  /** #lasts takes from the list of sessions what each did last, unless the stream told newer things. */
  #lasts(): void {
    const last: Record<string, Decided> = {};
    for (const s of this.sessions) {
      const [told, listed] = [this.last[s.id ?? ''], s.last];
      const d = told && listed ? (millis(told.at) > millis(listed.at) ? told : listed) : (told ?? listed);
      if (s.id && d) last[s.id] = d;
      this.#addBoxed((s.inVain ?? []).map((d) => ({ session: s.id ?? '', agent: s.agent ?? '', d })));
    }
    this.last = last;
  }

  #addBoxed(list: Boxed[]): void {
    if (list.length === 0) return;
    const all = new Map([...list, ...this.boxed].map((b) => [b.d.id ?? '', b]));
    this.boxed = [...all.values()].sort((a, b) => millis(b.d.at) - millis(a.d.at)).slice(0, mostBoxed);
  }

  /** #questions puts what is open in the place of what was, and keeps what has just ended. */
  #questions(list: Question[]): void {
    const now = Date.now();
    const before = new Map(this.cards.map((c) => [keyOf(c.q), c]));
    const each = new Map(list.map((q) => [keyOf(q), q])); // of two that cannot be told apart, the last
    const cards: Card[] = [...each].map(([k, q]) => {
      const c = before.get(k);
      return { q, since: c && c.q.seen === q.seen && c.q.calls?.length === q.calls?.length && c.ended === undefined ? c.since : now };
    });
    this.cards.forEach((c, i) => {
      if (each.has(keyOf(c.q))) return;
      const ended: Card = c.ended === undefined ? { ...c, gone: c.by === undefined, ended: now } : c;
      cards.splice(Math.min(i, cards.length), 0, ended);
    });
    this.#place(cards);
  }

  /** #place shows these cards. One that changes or ends has another height, and moves all below it. */
  #place(cards: Card[]): void {
    const as = (c: Card, o: Card | undefined): boolean => o !== undefined && keyOf(c.q) === keyOf(o.q) && c.since === o.since && (c.ended === undefined) === (o.ended === undefined);
    if (cards.length !== this.cards.length || !cards.every((c, i) => as(c, this.cards[i]))) this.shift();
    this.cards = cards;
  }

  #take(): void {
    this.#flush = undefined;
    const list = this.#queue;
    this.#queue = [];
    let read = false;
    const last: Record<string, Decided> = {};
    const boxed: Boxed[] = [];
    for (const m of list) {
      this.missed += Number(m.missed ?? 0);
      if (Number(m.missed ?? 0) > 0) read = true;
      if (m.asked) {
        this.#asked(m.asked);
        read = true;
      } else if (m.answered) {
        this.#answered(m.answered, m.session);
        read = true;
      } else if (m.decided) {
        if (m.session && m.decided.action?.kind === 'call-tool') last[m.session] = m.decided;
        if (m.session) this.#wrote(m.session, m);
      } else if (m.boxed) boxed.push({ session: m.session ?? '', agent: m.agent ?? '', d: m.boxed });
      else if (m.incident && !ownAct(m.incident)) this.incidents = [m.incident, ...this.incidents].slice(0, 20);
      else if (m.paused || m.resumed) read = true;
      for (const f of this.#hears) f(m);
    }
    if (Object.keys(last).length > 0) {
      const known = new Set(this.sessions.map((s) => s.id));
      this.last = Object.fromEntries(Object.entries({ ...this.last, ...last }).filter(([id]) => known.has(id)));
    }
    this.#addBoxed(boxed.filter((b) => (b.d.box?.wanted?.length ?? 0) > 0 || (b.d.box?.notKept?.length ?? 0) > 0));
    if (read) void this.#read();
  }

  #asked(q: Question): void {
    const at = this.cards.findIndex((c) => keyOf(c.q) === keyOf(q));
    const card: Card = { q, since: Date.now() };
    this.#place(at < 0 ? [...this.cards, card] : this.cards.map((c, i) => (i === at ? card : c)));
  }

  /** #answered shows how a question was answered. A no that comes after a yes holds if the call has not run. */
  #answered(a: Answered, session: string | undefined): void {
    this.#place(this.cards.map((c) => (c.q.ticket === a.ticket && c.q.session === session && c.by?.verdict !== a.verdict ? { ...c, by: a, gone: false, ended: Date.now() } : c)));
  }

  #wrote(session: string, m: WatchResponse): void {
    const at = this.sessions.findIndex((s) => s.id === session);
    const mark = m.decided?.mark;
    if (at < 0) {
      this.sessions = [{ id: session, agent: m.agent, mark, written: m.at, opened: m.at }, ...this.sessions].slice(0, mostSessions);
      this.#stale = true;
      void this.#read();
      return;
    }
    const s = this.sessions[at] as Session;
    this.sessions = [{ ...s, mark: mark ?? s.mark, written: m.at ?? s.written }, ...this.sessions.filter((_, i) => i !== at)];
  }

  #tick(): void {
    this.now = Date.now();
    if (this.cards.some((c) => c.ended === undefined && millis(c.q.expires) < this.now - 1_000)) {
      this.#place(this.cards.map((c) => (c.ended === undefined && millis(c.q.expires) < this.now - 1_000 ? { ...c, gone: true, ended: this.now } : c)));
      this.refresh();
    }
    if (this.cards.some((c) => c.ended !== undefined && this.now - c.ended > keepEnded)) {
      this.#place(this.cards.filter((c) => c.ended === undefined || this.now - c.ended <= keepEnded));
    }
  }
}

export const live = new Live();
