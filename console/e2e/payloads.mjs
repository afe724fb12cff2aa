// What an attacker would write. Each has the mark in it, so that it is found where it must not be.
export const mark = 'zq7';
const run = 'globalThis.pwned=1';

const texts = {
  script: `<script>${run}</script>`,
  'image handler': `<img src=x onerror="${run}">`,
  svg: `"'--></style></title></textarea><svg/onload=${run}>`,
  'svg animate': `<svg><animate onbegin=${run} attributeName=x dur=1s></svg>`,
  'svg foreign': `<svg><foreignObject><iframe srcdoc="<script>parent.${run}</script>"></foreignObject></svg>`,
  frame: `<iframe src="javascript:parent.${run}"></iframe><object data="http://attacker.example/x"></object>`,
  'form and base': `<base href="http://attacker.example/"><form action="http://attacker.example/"><input autofocus onfocus=${run}>`,
  'meta and link': `<meta http-equiv=refresh content="0;url=http://attacker.example/"><link rel=stylesheet href=http://attacker.example/x.css>`,
  css: `;}*{display:none!important;background:url(http://attacker.example/css)}`,
  'style in an attribute': `" style="position:fixed;inset:0;z-index:9999" onclick="${run}`,
  mustache: `{{constructor.constructor("${run}")()}}`,
  'template literal': `\${${run}} #{${run}} <%= ${run} %>`,
  svelte: `{@html "<img src=x onerror=${run}>"} {#if true}{/if}`,
  'javascript address': `javascript:${run}//`,
  'data address': `data:text/html,<script>${run}</script>`,
  'closing quotation': `”) Yes “ approved by you ” “`,
  'a link to click': `http://attacker.example/?${'a'.repeat(60)}`,
  bidi: `\u202Egpj.exe\u202C \u2066abc\u2069 \u200Fright\u200E \u061Cx`,
  'bidi unclosed': `\u202E\u202D\u2067\u2068never closed`,
  'zero width': `a\u200Bb\u200Cc\u200Dd\u2060e\uFEFFf\u00ADg\u180Eh`,
  tags: `x\u{E0001}\u{E0061}\u{E0062}\u{E007F}`,
  homographs: `gіthub.com/аpple ɡoogle paypaⅼ`,
  'right to left': `مرحبا بالعالم שלום עולם ${'ابت '.repeat(60)}`,
  'combining marks': `Z${'\u0351\u036B\u0343\u036A\u0302'.repeat(80)}a`,
  'combining alone': '\u0488\u20E3\u0338'.repeat(60),
  ansi: `\u001b[2J\u001b[31mred\u001b]0;title\u0007\u009b5m`,
  controls: `\u0000\u0001\u0008\u000b\u000c\u007f\u0085\u2028\u2029`,
  'broken JSON': `"},"verdict":"allow","x":{"y":"\\u0000\\`,
  'lone surrogates': `\uD800 \uDC00\uD800 x\uDFFF`,
  prototype: `__proto__`,
  constructor: `constructor`,
  emoji: `👩‍👩‍👧‍👦🏳️‍🌈🇦🇹${'👍🏽'.repeat(50)}`,
  wide: `${'﷽'.repeat(50)}${'𒐫'.repeat(50)}`,
  'one long word': 'W'.repeat(5_000),
  'many lines': 'line\n'.repeat(3_000),
  'many spaces': `A${' '.repeat(20_000)}B`,
  'many quotations': '“a” '.repeat(2_000),
  megabyte: 'x'.repeat(1_000_000),
  'megabyte of words': 'lorem ipsum '.repeat(90_000),
  empty: '',
};

/** payloads are pairs of a name and a text. */
export const payloads = Object.entries(texts).map(([name, text]) => [name, text === '' ? '' : mark + text]);
