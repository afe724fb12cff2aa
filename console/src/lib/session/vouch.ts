// What a session's mark becomes when a source is vouched for, or no longer.
//
// The mark is the least of what is in the conversation, and vouching raises one content to `local`
// at most. Show does not say which sources a person cleared from the conversation, nor what a
// source's own label is below what it was made from. So this says what may be, and no more; the
// daemon's answer says what is.

import { trustLevel, trustWord } from '../format';
import type { Label, Source } from '../types';

const local = 3;
const words = ['untrusted', 'external', 'shared', 'local', 'owner', 'system'];

export interface Preview {
  /** The mark's trust now. */
  now: string;
  /** How far it may rise; the same as now if other sources hold it there. */
  upTo: string;
  /** What keeps it from rising further, while it is in the conversation. */
  because: Source[];
  /** Sources made from it, which may rise with it. */
  made: Source[];
}

/** dependent finds what was made from a content, directly or not. */
export function dependent(sources: Source[], digest: string): Set<number> {
  const on = new Set<number>();
  let any = false; // a source before this one depends on it
  for (const s of [...sources].sort((a, b) => (a.node ?? 0) - (b.node ?? 0))) {
    if ((s.digest ?? '') === digest || (s.whole && any) || (s.inputs ?? []).some((i) => on.has(i))) {
      on.add(s.node ?? 0);
      any = true;
    }
  }
  return on;
}

/** afterEndorse says how far the mark may rise. It never says that it will. */
export function afterEndorse(sources: Source[], mark: Label | undefined, digest: string): Preview {
  const now = trustLevel(mark?.trust);
  const on = dependent(sources, digest);
  const rest = sources.filter((s) => !on.has(s.node ?? 0) && trustLevel(s.label?.trust) >= now && trustLevel(s.label?.trust) < local);
  const least = Math.min(local, ...rest.map((s) => trustLevel(s.label?.trust)));
  const upTo = Math.max(now, least);
  return {
    now: trustWord(mark?.trust), upTo: words[upTo] ?? 'untrusted', because: rest.filter((s) => trustLevel(s.label?.trust) === least && least < local),
    made: sources.filter((s) => on.has(s.node ?? 0) && (s.digest ?? '') !== digest),
  };
}

/** canVouch: content that has arrived, and is trusted less than a file of the owner's. */
export const canVouch = (s: Source): boolean => (s.digest ?? '') !== '' && trustLevel(s.label?.trust) < local;
