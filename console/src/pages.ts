// The pages of the console. A page that is not built yet has no line here, and so no link.
//
// To add one: write src/pages/NAME.svelte, which is given what stands behind the name in the
// address (`#/session/ID`: `{ rest: 'ID' }`), and add its line.

import type { Component } from 'svelte';
import { network } from './lib/login';
import Now from './pages/Now.svelte';

export interface Page {
  /** Its name in the address: `#/now`. */
  id: string;
  /** Its name in the navigation. */
  name: string;
  /** Its code, read when the page is first looked at. */
  load: () => Promise<{ default: Component<{ rest: string }> }>;
}

const all: [Page, ...Page[]] = [
  { id: 'now', name: 'Now', load: () => Promise.resolve({ default: Now }) }, // the first page is there at once
  { id: 'session', name: 'Sessions', load: () => import('./pages/Session.svelte') },
  { id: 'rules', name: 'Rules', load: () => import('./pages/Rules.svelte') },
  { id: 'did', name: 'What it did', load: () => import('./pages/Did.svelte') },
];

/** The pages that there are here: over the network none changes rules. */
export const pages = all.filter((p) => !network || p.id !== 'rules') as [Page, ...Page[]];
