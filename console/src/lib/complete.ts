// Completion of a policy from its JSON Schema: which key or word can stand where the caret is.
// YAML is read by its indentation, and by braces within a line: enough for a policy, and what it
// does not understand it completes with nothing.

/** A Schema is what we use of JSON Schema. */
export interface Schema {
  description?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  properties?: Record<string, Schema>;
  propertyNames?: { enum?: unknown[] };
  additionalProperties?: Schema | boolean;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  required?: string[];
}

/** A Place is where the caret is: below which keys (`[]` is an item of a list), and what is typed. */
export interface Place {
  path: string[];
  /** `key` where a key or an item begins, `value` behind a colon. */
  kind: 'key' | 'value';
  word: string;
  /** Where the word begins in the text. */
  from: number;
  /** Keys that stand there already. */
  taken: string[];
  /** Inside of braces. */
  flow: boolean;
  indent: number;
}

interface Part {
  col: number;
  /** A key, or `-`. */
  name: string;
  dash: boolean;
  /** What stands behind its colon. */
  value: string;
}

const keyed = /^(?:"([^"]*)"|'([^']*)'|([^\s#{}[\],&*!|>'"%@`-][^#{}[\],]*?|-[^\s#{}[\],]+?|\*)):(?:\s+(.*)|\s*)$/;
const plain = /^["']?[\w.*/@-]*$/;

/** bare is a line without its comment. */
const bare = (line: string): string => line.replace(/(^|\s)#.*$/, '$1').trimEnd();

/** parts takes a line apart: `  - name: x` is a dash at 2 and a key at 4. */
function parts(line: string): Part[] {
  const out: Part[] = [];
  let col = line.length - line.trimStart().length;
  let rest = line.slice(col);
  while (/^-(\s|$)/.test(rest)) {
    out.push({ col, name: '-', dash: true, value: '' });
    const gap = /^-\s*/.exec(rest)?.[0].length ?? 1;
    col += gap;
    rest = rest.slice(gap);
  }
  const m = keyed.exec(rest);
  if (m) out.push({ col, name: m[1] ?? m[2] ?? m[3] ?? '', dash: false, value: (m[4] ?? '').trim() });
  return out;
}

/** place says where an offset of a text is; undefined where nothing can be completed. */
export function place(text: string, at: number): Place | undefined {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const typed = text.slice(start, at);
  if (/(^|\s)#/.test(typed)) return undefined;
  const all = text.split('\n');
  const row = text.slice(0, start).split('\n').length - 1;
  let col = typed.length - typed.trimStart().length;
  let rest = typed.slice(col);
  const own: Part[] = [];
  while (/^-(\s|$)/.test(rest)) {
    own.push({ col, name: '-', dash: true, value: '' });
    const gap = /^-\s*/.exec(rest)?.[0].length ?? 1;
    col += gap;
    rest = rest.slice(gap);
  }
  const above = parents(all, row, col, own);
  if (above === undefined) return undefined;
  const indent = col;
  if (plain.test(rest)) return { path: above, kind: 'key', word: rest, from: at - rest.length, taken: siblings(all, row, col, own.length > 0), flow: false, indent };
  const m = /^(?:"([^"]*)"|'([^']*)'|([^\s:{}[\],][^:{}[\],]*)):\s+(.*)$/.exec(rest) ?? /^()()():?()([{[].*)$/.exec(rest);
  if (!m) return undefined;
  const path = m[3] === '' && m[5] !== undefined ? above : [...above, m[1] ?? m[2] ?? m[3] ?? ''];
  const value = m[5] ?? m[4] ?? '';
  if (/^[{[]/.test(value)) return inBraces(value, path, at, indent);
  return plain.test(value) ? { path, kind: 'value', word: value, from: at - value.length, taken: [], flow: false, indent } : undefined;
}

/** parents walks up from a column to the beginning of the text. */
function parents(all: string[], row: number, col: number, own: Part[]): string[] | undefined {
  const path: string[] = [];
  let need = col;
  let dash = false;
  for (const p of [...own].reverse()) {
    path.unshift('[]');
    need = p.col;
    dash = true;
  }
  for (let i = row - 1; i >= 0 && (need > 0 || dash); i--) {
    for (const p of parts(bare(all[i] ?? '')).reverse()) {
      if (p.col < need || (dash && !p.dash && p.col === need)) {
        if (!p.dash && p.value !== '' && !/^[&!]\S*$/.test(p.value)) return undefined; // a value, or a text of several lines
        path.unshift(p.dash ? '[]' : p.name);
        need = p.col;
        dash = p.dash;
      }
    }
  }
  return need > 0 ? undefined : path;
}

/** siblings are the keys beside a column. */
function siblings(all: string[], row: number, col: number, begins: boolean): string[] {
  const out: string[] = [];
  const look = (i: number): boolean => {
    const found = parts(bare(all[i] ?? ''));
    const key = found.find((p) => !p.dash && p.col === col);
    if (key && i !== row) out.push(key.name);
    return found.some((p) => p.col < col);
  };
  if (!begins) for (let i = row - 1; i >= 0 && !look(i); i--);
  for (let i = row + 1; i < all.length && !look(i); i++);
  return out;
}

/** inBraces reads `{a: x, b: [y, ` up to the caret. */
function inBraces(value: string, path: string[], at: number, indent: number): Place | undefined {
  const stack: { map: boolean; key: string; taken: string[] }[] = [];
  let word = '';
  for (const c of value) {
    const top = stack.at(-1);
    if (c === '{' || c === '[') {
      stack.push({ map: c === '{', key: '', taken: [] });
      word = '';
    } else if (c === '}' || c === ']') {
      stack.pop();
      word = '';
    } else if (c === ',') {
      if (top) top.key = '';
      word = '';
    } else if (c === ':' && top?.map && top.key === '') {
      top.key = word.trim().replace(/^["']|["']$/g, '');
      top.taken.push(top.key);
      word = '';
    } else word += c;
  }
  const top = stack.at(-1);
  if (!top) return undefined;
  word = word.trimStart();
  if (!plain.test(word)) return undefined;
  const down = stack.flatMap((s) => (s.map ? (s.key === '' ? [] : [s.key]) : ['[]']));
  const key = top.map && top.key === '';
  return { path: [...path, ...down], kind: key ? 'key' : 'value', word, from: at - word.length, taken: key ? top.taken : [], flow: true, indent };
}

/** below gives the schemas that hold at a path. */
export function below(schema: Schema, path: string[]): Schema[] {
  let now = each(schema);
  for (const p of path) {
    now = now.flatMap((s) => {
      if (p === '[]') return s.items ? each(s.items) : [];
      const own = s.properties && Object.hasOwn(s.properties, p) ? s.properties[p] : undefined;
      if (own) return each(own);
      return typeof s.additionalProperties === 'object' ? each(s.additionalProperties) : [];
    });
  }
  return now;
}

const each = (s: Schema): Schema[] => [s, ...(s.oneOf ?? []).flatMap(each), ...(s.anyOf ?? []).flatMap(each)];

/** An Option is something that can be written. */
export interface Option {
  word: string;
  about: string;
  /** What is written: a key with its colon. */
  insert: string;
}

const most = 60;

/** options are what can stand at a place, those that begin as typed first. */
export function options(schema: Schema, p: Place): Option[] {
  const found = new Map<string, Option>();
  const typed = p.word.replace(/^["']/, '').toLowerCase();
  const quote = (w: string): string => (/^[\w./-]+$/.test(w) && !/^-/.test(w) ? w : `"${w}"`);
  const add = (word: string, about: string, insert: string): void => {
    if (word.toLowerCase().includes(typed) && !found.has(word)) found.set(word, { word, about, insert });
  };
  for (const s of below(schema, p.path)) {
    if (p.kind === 'key') {
      for (const [name, one] of Object.entries(s.properties ?? {})) {
        if (p.taken.includes(name)) continue;
        const needed = s.required?.includes(name) ? 'Needed. ' : '';
        add(name, needed + (one.description ?? ''), quote(name) + opening(one, p));
      }
      const value = typeof s.additionalProperties === 'object' ? s.additionalProperties : {};
      for (const name of s.propertyNames?.enum ?? []) if (!p.taken.includes(String(name))) add(String(name), '', quote(String(name)) + opening(value, p));
    }
    if (p.kind === 'value' || p.path.at(-1) === '[]') {
      for (const v of [...(s.enum ?? []), ...(s.const === undefined ? [] : [s.const]), ...(s.type === 'boolean' ? [true, false] : [])]) add(String(v), s.description ?? '', quote(String(v)));
      for (const v of s.examples ?? []) add(String(v), 'for example', quote(String(v)));
    }
  }
  const first = (o: Option): number => (o.word.toLowerCase().startsWith(typed) ? 0 : 1);
  return [...found.values()].sort((a, b) => first(a) - first(b)).slice(0, most);
}

/** opening is what follows a key: its list or map begins on the next line. */
function opening(s: Schema, p: Place): string {
  if (p.flow) return ': ';
  if (s.type === 'array' && !s.oneOf) return `:\n${' '.repeat(p.indent + 2)}- `;
  if (s.type === 'object' && !s.oneOf) return `:\n${' '.repeat(p.indent + 2)}`;
  return ': ';
}

/** about tells what the schema says of the place. */
export const about = (schema: Schema, p: Place): string => below(schema, p.path).find((s) => s.description)?.description ?? '';

/** parse reads a schema; one that cannot be read completes nothing. */
export function parse(text: string | undefined): Schema | undefined {
  try {
    const got: unknown = JSON.parse(text ?? '');
    return typeof got === 'object' && got !== null ? (got as Schema) : undefined;
  } catch {
    return undefined;
  }
}
