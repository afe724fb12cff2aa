import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

// What the daemon answers and what others wrote, by the names that the pages give it.
const told = /[\s>]\{(?:notice|failed|trouble|undoTrouble|noGraph|refused|error|unsure|[\w.]+\.(?:notice|message|error|name|place|path|agent|by|text|line|sentence|project|sender|session|url|host|command))\}/;
// Names of the pages' own, or text that went through the filter before.
const ours = ['App.svelte: {p.name}', 'Foreign.svelte: {p.text}', 'Line.svelte: {p.text}', 'GraphList.svelte: {t.name}', 'GraphList.svelte: {p.name}', 'Did.svelte: {p.name}'];
// As the text in the field above it, whose characters it must have.
ours.push('Editor.svelte: {s.text}');
ours.push('Rules.svelte: {p.line}'); // a number

test('no page shows a sentence of the daemon without the filter', () => {
  const found: string[] = [];
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.svelte')) continue;
    const markup = readFileSync(`src/${name}`, 'utf8').replace(/<(script|style)\b[^]*?<\/\1>/g, '').replace(/<!--[^]*?-->/g, '');
    for (const m of markup.matchAll(new RegExp(told.source, 'g'))) {
      const one = `${name.split('/').at(-1) ?? ''}: ${m[0].slice(1)}`;
      const attribute = /\s[\w:-]+=$/.test(markup.slice(0, m.index + 1));
      if (!attribute && !ours.includes(one)) found.push(one);
    }
  }
  expect(found).toEqual([]);
});

test('no list has keys that agents or machines choose: one that comes twice ends the page', () => {
  const unique = ['one.id', 's.id', 't.turn', 't.name', 'p.name', 'r.id', 'e.id', 'f.n.id', 'b.d.id', 'k.s.digest || k.s.node', 's.digest', 'keyOf(card.q)'];
  const found: string[] = [];
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.svelte')) continue;
    for (const m of readFileSync(`src/${name}`, 'utf8').matchAll(/\{#each [^}]*? as [^(}]*(?:\{[^}]*\}[^(}]*)?\(((?:[^()]|\([^()]*\))*)\)\}/g)) found.push(m[1] ?? '');
  }
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter((k) => !unique.includes(k))).toEqual([]);
});
