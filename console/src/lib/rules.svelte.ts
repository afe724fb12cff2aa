// The text of the rules that is being written. It outlives a change of page and a reload of the
// tab, so that answering a question meanwhile loses nothing.

import type { RulesFile } from './desks';

const kept = 'floodmark-rules-draft';

class Draft {
  /** The file as it was read. */
  file = $state.raw<RulesFile>();
  text = $state('');
  dirty = $derived(this.file !== undefined && this.text !== (this.file.text ?? ''));
  /** A text was found that was written before a reload. */
  found = $state(false);

  /** read takes a file that was read. A text that was not saved stays, with the file it was written for. */
  read(file: RulesFile): void {
    if (this.dirty) return;
    const old = this.file === undefined ? this.#stored() : undefined;
    this.file = file;
    this.text = file.text ?? '';
    if (!old || old.text === this.text) return;
    this.text = old.text;
    this.found = true;
    if (old.digest !== (file.digest ?? '')) this.file = { ...file, digest: old.digest };
  }

  /** base makes a file the one that the text is a change of. */
  base(file: RulesFile, text = this.text): void {
    this.file = file;
    this.text = text;
    this.keep();
  }

  keep(): void {
    try {
      if (this.dirty) sessionStorage.setItem(kept, JSON.stringify({ text: this.text, digest: this.file?.digest ?? '' }));
      else sessionStorage.removeItem(kept);
    } catch {
      // There is no room: the text stays on the page.
    }
  }

  #stored(): { text: string; digest: string } | undefined {
    try {
      const got = JSON.parse(sessionStorage.getItem(kept) ?? 'null') as { text?: unknown; digest?: unknown } | null;
      return typeof got?.text === 'string' && typeof got.digest === 'string' ? { text: got.text, digest: got.digest } : undefined;
    } catch {
      return undefined;
    }
  }
}

export const draft = new Draft();
