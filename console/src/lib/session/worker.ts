// The layout in a thread of its own, so that the page goes on answering.

import { layout, type LayoutInput, type LayoutOutput } from './layout';
import address from './layout.worker.ts?worker&url';

interface Policy {
  createScriptURL(url: string): unknown;
}
interface Types {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy;
}

let worker: Worker | undefined;
let broken = false;
let last = 0;
const waiting = new Map<number, { input: LayoutInput; done: (o: LayoutOutput) => void }>();

/** The pages' Content-Security-Policy lets this name make one address into a script: this one. */
function trusted(url: string): string {
  const types = (globalThis as { trustedTypes?: Types }).trustedTypes;
  if (!types) return url;
  return types
    .createPolicy('floodmark-worker', {
      createScriptURL: (u) => {
        if (u !== address) throw new TypeError('not the worker of this page');
        return u;
      },
    })
    .createScriptURL(url) as string;
}

function here(): void {
  broken = true;
  worker?.terminate();
  worker = undefined;
  for (const [id, w] of waiting) {
    waiting.delete(id);
    w.done(layout(w.input));
  }
}

/** place lays out in the worker, or here if there is none. */
export function place(input: LayoutInput): Promise<LayoutOutput> {
  return new Promise((done) => {
    if (!broken && !worker) {
      try {
        worker = new Worker(trusted(address), { type: 'module' });
        worker.onmessage = (e: MessageEvent<{ id: number; output: LayoutOutput }>) => {
          waiting.get(e.data.id)?.done(e.data.output);
          waiting.delete(e.data.id);
        };
        worker.onerror = here;
      } catch {
        broken = true;
      }
    }
    if (!worker) return done(layout(input));
    const id = ++last;
    waiting.set(id, { input, done });
    worker.postMessage({ id, input });
  });
}
