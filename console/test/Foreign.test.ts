import { render } from 'svelte/server';
import { expect, test } from 'vitest';
import Foreign from '../src/lib/Foreign.svelte';
import Phrase from '../src/lib/Phrase.svelte';

// Rendered to a string, so that every tag of the page can be counted.
const tags = (html: string): string[] => [...html.replace(/<!--.*?-->/g, '').matchAll(/<\/?([a-zA-Z!][\w-]*)/g)].map((m) => m[1] ?? '');

const hostile = [
  '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', "' onmouseover='alert(1)", '{@html "<b>x</b>"}', '{{7*7}}', '${7*7}', '</span></p><iframe src=//evil.example>',
  '<!-- x --><style>*{display:none}</style>', 'javascript:alert(1)', '&lt;b&gt;', '\u202E<b>\u202C', '<\u200Bscript>', '<a href="javascript:x">y</a>',
];

test('text of others makes no element and no attribute', () => {
  for (const text of hostile) {
    for (const props of [{ text }, { text, block: true }, { text, bare: true }, { text: text.repeat(200), most: 50 }]) {
      const { body } = render(Foreign, { props });
      expect(new Set(tags(body)), body).toEqual(new Set([...tags(body)].filter((t) => ['span', 'button'].includes(t))));
      expect(body).not.toMatch(/<[^>]*\s(on\w+|href|src|style)=/);
      expect(body).not.toMatch(/[\u200B\u202A-\u202E\u2066-\u2069]/);
    }
  }
});

test('the same inside and outside of the marks of a sentence', () => {
  for (const text of hostile) {
    const { body } = render(Phrase, { props: { line: `pi wants ${text}: “${text}” and “${text}`, command: true } });
    expect(tags(body).every((t) => ['span', 'button'].includes(t)), body).toBe(true);
    expect(body).not.toMatch(/[\u200B\u202A-\u202E\u2066-\u2069]/);
  }
});

test('a megabyte is cut, and says how much is missing', () => {
  const { body } = render(Foreign, { props: { text: 'x'.repeat(1_000_000) } });
  expect(body.length).toBeLessThan(2_000);
  expect(body).toContain('999,600 more characters');
});
