// The drawing on a canvas: it moves and grows without anything else on the page being told.

import { columnOf, faint, turnNames, type Drawing, type Focus, type Shape } from './model';
import { size, type LayoutOutput } from './layout';

interface Told {
  over(i: number | undefined): void;
  pick(i: number | undefined): void;
}

const colourNames = ['page', 'raised', 'hover', 'ink', 'soft', 'line', 'accent', 'focus', 'bad', 'warn', 'foreign', 'foreign-line', 'ask'] as const;
type Colours = Record<(typeof colourNames)[number], string>;

const largest = 2.5;
const sans = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const headings = ['What it read', 'What it did', 'Files it wrote'];
const bar = 14; // the strip on the right, which shows the whole
const readable = 0.42; // below this, words are too small to be drawn

/** A Painter draws one drawing on one canvas until it is ended. */
export class Painter {
  /** Nothing was shown yet. */
  empty = true;

  #d: Drawing = { shapes: [], lines: [], at: new Map(), ways: [], all: 0, left: 0, calm: false };
  #names = new Map<number, string>();
  #at: LayoutOutput = { x: new Float32Array(0), y: new Float32Array(0), bands: [], height: 0 };
  #order: number[][] = [[], [], []]; // of each column, from the top
  #tops = new Float32Array(0); // of each line
  #bottoms = new Float32Array(0);
  #near: number[][] = [];
  #words = new Map<string, string>();
  #focus: Focus | undefined;
  #selected: number | undefined;
  #over: number | undefined;
  #k = 1;
  #x = 0;
  #y = 0;
  #w = 0;
  #h = 0;
  #asked = 0;
  #c: CanvasRenderingContext2D;
  #colours!: Colours;
  #pointers = new Map<number, { x: number; y: number }>();
  #moved = 0;
  #onBar = false;
  #ends = new AbortController();
  #sizes: ResizeObserver;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly told: Told,
  ) {
    this.#c = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
    const o = { signal: this.#ends.signal };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const recolour = (): void => {
      const style = getComputedStyle(canvas);
      this.#colours = Object.fromEntries(colourNames.map((n) => [n, style.getPropertyValue(`--${n}`).trim() || '#888'])) as Colours;
      this.#ask();
    };
    recolour();
    dark.addEventListener('change', recolour, o);
    this.#sizes = new ResizeObserver(() => this.#resize());
    this.#sizes.observe(canvas);
    this.#resize();
    canvas.addEventListener('wheel', (e) => this.#wheel(e), { ...o, passive: false });
    canvas.addEventListener('pointerdown', (e) => this.#down(e), o);
    canvas.addEventListener('pointermove', (e) => this.#move(e), o);
    canvas.addEventListener('pointerup', (e) => this.#up(e), o);
    canvas.addEventListener('pointercancel', (e) => this.#pointers.delete(e.pointerId), o);
    canvas.addEventListener('pointerleave', () => this.told.over(undefined), o);
  }

  end(): void {
    this.#ends.abort();
    this.#sizes.disconnect();
    cancelAnimationFrame(this.#asked);
  }

  /** show puts another drawing in the place of this one. What is selected stays where it is seen. */
  show(d: Drawing, at: LayoutOutput, selected: number | undefined): void {
    const before = this.#selected === undefined ? undefined : this.#at.y[this.#selected];
    this.#d = d;
    this.#at = at;
    this.#names = turnNames(d);
    const columns: number[][] = [[], [], []];
    d.shapes.forEach((s, i) => columns[columnOf(s)]?.push(i));
    this.#order = columns.map((c) => c.sort((a, b) => (at.y[a] ?? 0) - (at.y[b] ?? 0)));
    this.#tops = new Float32Array(d.lines.length);
    this.#bottoms = new Float32Array(d.lines.length);
    this.#near = d.shapes.map(() => []);
    d.lines.forEach((l, k) => {
      const [a, b] = [at.y[l.from] ?? 0, at.y[l.to] ?? 0];
      this.#tops[k] = Math.min(a, b);
      this.#bottoms[k] = Math.max(a, b) + size.height;
      if (l.kind === 'result') return;
      this.#near[l.from]?.push(l.to);
      this.#near[l.to]?.push(l.from);
    });
    this.#selected = selected;
    this.#over = undefined;
    const after = selected === undefined ? undefined : at.y[selected];
    if (before !== undefined && after !== undefined) this.#y += (before - after) * this.#k;
    if (this.#words.size > 20_000) this.#words.clear();
    this.empty = false;
    this.#hold();
  }

  focus(focus: Focus | undefined, selected: number | undefined, over: number | undefined): void {
    this.#focus = focus;
    this.#selected = selected;
    this.#over = over;
    this.#ask();
  }

  /** start shows the full width, with one shape in the middle. */
  start(i: number): void {
    this.#k = Math.max(this.#w < 600 ? 0.68 : 0.3, Math.min(1, (this.#w - bar) / size.total));
    this.#x = Math.max(0, (this.#w - bar - size.total * this.#k) / 2);
    this.#y = this.#h / 2 - ((this.#at.y[i] ?? 0) + size.height / 2) * this.#k;
    if (this.#at.height * this.#k < this.#h) this.#y = 0;
    this.#hold();
  }

  fit(): void {
    this.#k = Math.max(0.002, Math.min(1, (this.#w - bar) / size.total, this.#h / Math.max(1, this.#at.height)));
    this.#x = (this.#w - bar - size.total * this.#k) / 2;
    this.#y = 0;
    this.#hold();
  }

  zoom(by: number, x = this.#w / 2, y = this.#h / 2): void {
    const k = Math.max(Math.min(0.1, this.#h / Math.max(1, this.#at.height)), Math.min(largest, this.#k * by));
    this.#x = x - ((x - this.#x) / this.#k) * k;
    this.#y = y - ((y - this.#y) / this.#k) * k;
    this.#k = k;
    this.#hold();
  }

  pan(dx: number, dy: number): void {
    this.#x += dx;
    this.#y += dy;
    this.#hold();
  }

  /** bring moves as far as is needed to see a shape well. */
  bring(i: number | undefined): void {
    if (i === undefined || this.#at.y[i] === undefined) return;
    if (this.#k < readable) this.zoom(0.8 / this.#k);
    const x = (this.#at.x[i] ?? 0) * this.#k + this.#x;
    const y = (this.#at.y[i] ?? 0) * this.#k + this.#y;
    const w = size.width[0] * this.#k;
    if (y < 60 || y > this.#h - 90) this.#y += this.#h / 2 - y;
    if (x < 8) this.#x += 8 - x;
    if (x + w > this.#w - bar - 8) this.#x -= x + w - (this.#w - bar - 8);
    this.#hold();
  }

  /** beside is what an arrow leads to: the next in the column, or what a line joins. */
  beside(i: number | undefined, to: 'up' | 'down' | 'left' | 'right'): number | undefined {
    if (i === undefined) return this.edge('last');
    const s = this.#d.shapes[i];
    if (!s) return undefined;
    const column = columnOf(s);
    if (to === 'up' || to === 'down') {
      const list = this.#order[column] ?? [];
      return list[list.indexOf(i) + (to === 'down' ? 1 : -1)];
    }
    const wanted = column + (to === 'right' ? 1 : -1);
    const y = this.#at.y[i] ?? 0;
    const nearest = (list: number[]): number | undefined => list.reduce<number | undefined>((a, b) => (a === undefined || Math.abs((this.#at.y[b] ?? 0) - y) < Math.abs((this.#at.y[a] ?? 0) - y) ? b : a), undefined);
    return nearest((this.#near[i] ?? []).filter((o) => columnOf(this.#d.shapes[o] as Shape) === wanted)) ?? nearest(this.#order[wanted] ?? []);
  }

  edge(which: 'first' | 'last'): number | undefined {
    const list = this.#order[1]?.length ? this.#order[1] : this.#order.flat();
    return which === 'first' ? list[0] : list.at(-1);
  }

  #ask(): void {
    if (this.#asked === 0) this.#asked = requestAnimationFrame(() => this.#paint());
  }

  /** hold keeps some of the drawing in sight. */
  #hold(): void {
    const tall = this.#at.height * this.#k;
    const wide = size.total * this.#k;
    this.#y = tall <= this.#h ? Math.min(Math.max(this.#y, 0), this.#h - tall) : Math.min(0, Math.max(this.#y, this.#h - tall));
    const room = this.#w - bar;
    this.#x = wide <= room ? Math.min(Math.max(this.#x, 0), room - wide) : Math.min(0, Math.max(this.#x, room - wide));
    this.#ask();
  }

  #resize(): void {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (w === 0 || h === 0 || (w === this.#w && h === this.#h)) return;
    const middle = this.#h / 2;
    this.#w = w;
    this.#h = h;
    if (middle > 0) this.#y += h / 2 - middle;
    const dense = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = w * dense;
    this.canvas.height = h * dense;
    if (this.empty) this.#ask();
    else this.#hold();
  }

  #wheel(e: WheelEvent): void {
    const box = this.canvas.getBoundingClientRect();
    if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(-e.deltaY / 300), e.clientX - box.left, e.clientY - box.top);
    else if (this.canvas.parentElement?.contains(document.activeElement)) this.pan(-e.deltaX, -e.deltaY);
    else return; // the page scrolls, until the drawing was clicked
    e.preventDefault();
  }

  #down(e: PointerEvent): void {
    this.canvas.setPointerCapture(e.pointerId);
    this.canvas.parentElement?.focus({ preventScroll: true });
    this.#pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    this.#moved = 0;
    this.#onBar = e.offsetX > this.#w - bar;
    if (this.#onBar) this.#jump(e.offsetY);
  }

  #jump(y: number): void {
    this.#y = this.#h / 2 - (y / this.#h) * this.#at.height * this.#k;
    this.#hold();
  }

  #move(e: PointerEvent): void {
    const last = this.#pointers.get(e.pointerId);
    if (!last) {
      const i = this.#find(e.offsetX, e.offsetY);
      if (i !== this.#over) {
        this.#over = i;
        this.told.over(i);
      }
      return;
    }
    const now = { x: e.offsetX, y: e.offsetY };
    this.#moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
    if (this.#onBar) this.#jump(now.y);
    else if (this.#pointers.size === 2) {
      const other = [...this.#pointers.entries()].find(([id]) => id !== e.pointerId)?.[1] ?? last;
      const was = Math.hypot(last.x - other.x, last.y - other.y);
      const is = Math.hypot(now.x - other.x, now.y - other.y);
      if (was > 0) this.zoom(is / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (this.#moved > 3) this.pan(now.x - last.x, now.y - last.y);
    this.#pointers.set(e.pointerId, now);
  }

  #up(e: PointerEvent): void {
    if (this.#pointers.delete(e.pointerId) && this.#moved <= 3 && !this.#onBar) this.told.pick(this.#find(e.offsetX, e.offsetY));
  }

  #find(px: number, py: number): number | undefined {
    const x = (px - this.#x) / this.#k;
    const y = (py - this.#y) / this.#k;
    for (let c = 0; c < 3; c++) {
      if (x < (size.x[c] ?? 0) || x > (size.x[c] ?? 0) + (size.width[c] ?? 0)) continue;
      const list = this.#order[c] ?? [];
      const i = list[this.#after(list, y - size.height)];
      if (i !== undefined && y >= (this.#at.y[i] ?? 0) && y <= (this.#at.y[i] ?? 0) + size.height) return i;
    }
    return undefined;
  }

  /** after is the first place in a column whose shape begins below y. */
  #after(list: number[], y: number): number {
    let [a, b] = [0, list.length];
    while (a < b) {
      const m = (a + b) >> 1;
      if ((this.#at.y[list[m] as number] ?? 0) < y) a = m + 1;
      else b = m;
    }
    return a;
  }

  #fit(text: string, wide: number, font: string): string {
    const key = `${wide} ${font} ${text}`;
    let fits = this.#words.get(key);
    if (fits === undefined) {
      this.#c.font = font;
      fits = text;
      if (this.#c.measureText(text).width > wide) {
        let [a, b] = [0, text.length];
        const cut = (n: number): string => `${text.slice(0, n - Math.floor(n / 3)).replace(/[\uD800-\uDBFF]$/, '')}…${text.slice(text.length - Math.floor(n / 3)).replace(/^[\uDC00-\uDFFF]/, '')}`;
        while (a < b) {
          const m = (a + b + 1) >> 1;
          if (this.#c.measureText(cut(m)).width <= wide) a = m;
          else b = m - 1;
        }
        fits = cut(a);
      }
      this.#words.set(key, fits);
    }
    return fits;
  }

  #paint(): void {
    this.#asked = 0;
    const c = this.#c;
    const at = this.#at;
    const col = this.#colours;
    const dense = this.canvas.width / Math.max(1, this.#w);
    const k = this.#k;
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.fillStyle = col.raised;
    c.fillRect(0, 0, this.#w, this.#h);
    if (this.empty) return;
    const top = -this.#y / k;
    const bottom = (this.#h - this.#y) / k;
    c.setTransform(dense * k, 0, 0, dense * k, dense * this.#x, dense * this.#y);
    c.lineCap = 'round';

    const words = k >= readable;
    c.strokeStyle = col.line;
    c.lineWidth = 1 / k;
    c.beginPath();
    for (const b of at.bands) {
      if (b.bottom < top || b.top - 20 > bottom) continue;
      c.moveTo(10, b.top - 17);
      c.lineTo(size.total, b.top - 17);
    }
    c.stroke();
    if (words) {
      c.fillStyle = col.soft;
      c.font = `11px ${sans}`;
      c.textAlign = 'right';
      for (const b of at.bands) if (b.bottom >= top && b.top - 20 <= bottom) c.fillText(this.#names.get(b.turn) ?? `turn ${b.turn}`, size.total - 8, Math.min(Math.max(b.top - 5, top + 46 / k), b.bottom));
      c.textAlign = 'left';
    }

    this.#lines(top, bottom);
    for (let n = 0; n < 3; n++) {
      const list = this.#order[n] ?? [];
      for (let j = this.#after(list, top - size.height); j < list.length; j++) {
        const i = list[j] as number;
        if ((at.y[i] ?? 0) > bottom) break;
        this.#shape(i, n as 0 | 1 | 2, words);
      }
    }
    this.#around(dense);
  }

  #path(a: number, b: number, straight: boolean): void {
    const c = this.#c;
    const [ca, cb] = [columnOf(this.#d.shapes[a] as Shape) as 0 | 1 | 2, columnOf(this.#d.shapes[b] as Shape) as 0 | 1 | 2];
    const y = (this.#at.y[a] ?? 0) + size.height / 2;
    const v = (this.#at.y[b] ?? 0) + size.height / 2;
    const [x, u] = ca < cb ? [size.x[ca] + size.width[ca], size.x[cb]] : ca > cb ? [size.x[ca], size.x[cb] + size.width[cb]] : [size.x[ca], size.x[cb]];
    c.moveTo(x, y);
    if (straight) c.lineTo(u, v);
    else if (ca === cb) c.bezierCurveTo(x - 26, y, u - 26, v, u, v);
    else c.bezierCurveTo(x + (u - x) / 2, y, u - (u - x) / 2, v, u, v);
  }

  /** Lines of one look are one path. What leads to a stopped call is drawn last and strongest. */
  #lines(top: number, bottom: number): void {
    const c = this.#c;
    const { lines, shapes } = this.#d;
    const f = this.#focus;
    const straight = this.#k < 0.2;
    const plain: number[] = [];
    const dashed: number[] = [];
    const stops: number[] = [];
    const blames: number[] = [];
    for (let n = 0; n < lines.length; n++) {
      if ((this.#bottoms[n] ?? 0) < top || (this.#tops[n] ?? 0) > bottom || f?.lines.has(n)) continue;
      const l = lines[n] as (typeof lines)[0];
      if (faint(this.#d, l)) continue;
      const stopped = shapes[l.to]?.stopped === true;
      (l.kind === 'blame' ? blames : l.kind === 'made' ? dashed : stopped && l.kind === 'argument' ? stops : plain).push(n);
    }
    const stroke = (list: number[] | Set<number>, colour: string, wide: number, dash: number[]): void => {
      c.strokeStyle = colour;
      c.lineWidth = wide / Math.min(1, Math.max(this.#k, 0.4));
      c.setLineDash(dash);
      c.beginPath();
      for (const n of list) {
        const l = lines[n];
        if (l) this.#path(l.from, l.to, straight);
      }
      c.stroke();
    };
    c.globalAlpha = f ? 0.3 : 0.75;
    stroke(plain, this.#colours.soft, 0.8, []);
    stroke(dashed, this.#colours.soft, 0.8, straight ? [] : [5, 4]);
    c.globalAlpha = f ? 0.35 : 1;
    stroke(blames, this.#colours.bad, 1.2, straight ? [] : [5, 4]);
    stroke(stops, this.#colours.bad, 1.8, []);
    c.globalAlpha = 1;
    if (!f) return;
    const lit = [...f.lines];
    const hot = (n: number): boolean => f.sentences.length > 0 && lines[n]?.kind !== 'result';
    stroke(lit.filter((n) => !hot(n)), this.#colours.ink, 1.6, []);
    stroke(lit.filter((n) => hot(n) && lines[n]?.kind === 'blame'), this.#colours.bad, 2, [5, 4]);
    stroke(lit.filter((n) => hot(n) && lines[n]?.kind !== 'blame'), this.#colours.bad, 2.6, []);
    c.setLineDash([]);
    if (this.#k < readable) return;
    // The name of the argument stands on its line.
    c.font = `600 11px ${sans}`;
    c.textAlign = 'center';
    for (const n of lit.slice(0, 30)) {
      const l = lines[n];
      if (!l || l.words === '') continue;
      const [a, b] = [columnOf(shapes[l.from] as Shape) as 0 | 1 | 2, columnOf(shapes[l.to] as Shape) as 0 | 1 | 2];
      if (a >= b) continue;
      const x = (size.x[a] + size.width[a] + size.x[b]) / 2;
      const y = ((this.#at.y[l.from] ?? 0) + (this.#at.y[l.to] ?? 0) + size.height) / 2;
      const text = this.#fit(l.words, 150, c.font);
      const wide = c.measureText(text).width + 10;
      c.fillStyle = this.#colours.raised;
      c.fillRect(x - wide / 2, y - 9, wide, 17);
      c.fillStyle = this.#colours.ink;
      c.fillText(text, x, y + 4);
    }
    c.textAlign = 'left';
  }

  #shape(i: number, column: 0 | 1 | 2, words: boolean): void {
    const c = this.#c;
    const s = this.#d.shapes[i] as Shape;
    const col = this.#colours;
    const x = this.#at.x[i] ?? 0;
    const y = this.#at.y[i] ?? 0;
    const w = size.width[column];
    const h = size.height;
    const dim = this.#focus !== undefined && !this.#focus.shapes.has(i);
    const edge = s.stopped ? col.bad : s.kind === 'source' ? col['foreign-line'] : col.soft;
    c.globalAlpha = dim ? 0.35 : 1;
    if (!words) {
      // Small: a stopped call is a full bar with a notch, all else an open one.
      c.fillStyle = s.stopped ? col.bad : s.kind === 'source' ? col.foreign : col.hover;
      c.fillRect(x, y, w, h);
      if (this.#k > 0.06) {
        c.lineWidth = (s.stopped ? 2.5 : 1) / Math.max(this.#k, 0.15);
        c.strokeStyle = edge;
        c.strokeRect(x, y, w, h);
      }
      if (s.stopped && this.#k > 0.1) {
        c.fillStyle = col.raised;
        c.fillRect(x + 14, y + h / 2 - 5, 40, 10);
      }
      if (i === this.#selected || i === this.#over) this.#ring(x, y, w, h);
      c.globalAlpha = 1;
      return;
    }
    const round = s.kind === 'source' ? h / 2 : s.kind === 'file' ? 2 : 7;
    if (s.opens !== '') {
      c.fillStyle = col.raised;
      c.strokeStyle = edge;
      c.lineWidth = 1;
      c.beginPath();
      c.roundRect(x + 4, y + 4, w, h, round);
      c.fill();
      c.stroke();
    }
    c.fillStyle = s.kind === 'source' ? col.foreign : s.kind === 'file' ? col.page : col.raised;
    c.strokeStyle = edge;
    c.lineWidth = s.stopped ? 2 : 1;
    c.beginPath();
    c.roundRect(x, y, w, h, round);
    c.fill();
    c.stroke();
    this.#sign(s, x + 14, y + 14);
    const from = x + 42;
    const room = w - 42 - 14;
    c.fillStyle = col.ink;
    const bold = s.stopped ? '600 ' : '';
    const font = `${bold}12.5px ${sans}`;
    const title = this.#fit(s.title, room, font);
    c.font = font;
    c.fillText(title, from, y + 18);
    const small = `11px ${sans}`;
    const note = this.#fit(s.note, room, small);
    c.font = small;
    c.fillStyle = s.stopped ? col.bad : s.kind === 'source' && s.trust < 3 ? col.warn : col.soft;
    c.fillText(note, from, y + 33);
    if (i === this.#selected || i === this.#over) this.#ring(x, y, w, h);
    c.globalAlpha = 1;
  }

  #ring(x: number, y: number, w: number, h: number): void {
    const c = this.#c;
    c.globalAlpha = 1;
    c.strokeStyle = this.#colours.focus;
    c.lineWidth = 2.5 / Math.min(1, this.#k);
    c.beginPath();
    c.roundRect(x - 4, y - 4, w + 8, h + 8, 12);
    c.stroke();
  }

  #sign(s: Shape, x: number, y: number): void {
    const c = this.#c;
    const colour = s.stopped ? this.#colours.bad : s.kind === 'source' && s.trust < 3 ? this.#colours.warn : this.#colours.soft;
    c.strokeStyle = c.fillStyle = colour;
    if (s.kind === 'source') {
      c.lineWidth = 0.8;
      for (let i = 0; i < 5; i++) {
        const h = i * 2 + 3;
        if (i < s.trust) c.fillRect(x + i * 4.4, y + 12 - h, 3, h);
        else c.strokeRect(x + i * 4.4 + 0.4, y + 12.4 - h, 2.2, h - 0.8);
      }
      return;
    }
    c.lineWidth = 1.8;
    c.beginPath();
    const go = (...p: number[]): void => {
      for (let i = 0; i < p.length; i += 2) c[i === 0 ? 'moveTo' : 'lineTo'](x + (p[i] ?? 0), y + (p[i + 1] ?? 0));
    };
    if (s.kind === 'file') {
      go(2, 0, 9, 0, 13, 4, 13, 14, 2, 14, 2, 0);
      go(9, 0, 9, 4, 13, 4);
    } else if (s.verdict === 'allowed') go(1, 7, 5, 12, 13, 2);
    else if (s.verdict === 'boxed') {
      c.rect(x + 1, y + 1, 12, 12);
      c.rect(x + 5, y + 5, 4, 4);
    } else if (s.verdict === 'asked') {
      c.arc(x + 7, y + 7, 7, 0, Math.PI * 2);
      c.moveTo(x + 4.8, y + 5.4);
      c.quadraticCurveTo(x + 5, y + 3.4, x + 7, y + 3.4);
      c.quadraticCurveTo(x + 9.4, y + 3.6, x + 9.2, y + 5.6);
      c.quadraticCurveTo(x + 9, y + 6.8, x + 7, y + 8);
      go(7, 10.2, 7, 10.6);
    } else if (s.verdict === 'checked') go(7, 0, 13, 3, 12, 9, 7, 14, 2, 9, 1, 3, 7, 0);
    else {
      go(2, 2, 12, 12);
      go(12, 2, 2, 12);
    }
    c.stroke();
  }

  /** around draws what does not move: the headings, and the strip that shows the whole. */
  #around(dense: number): void {
    const c = this.#c;
    const col = this.#colours;
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.fillStyle = col.raised;
    c.fillRect(0, 0, this.#w, 28);
    c.fillStyle = col.line;
    c.fillRect(0, 28, this.#w, 1);
    c.font = `600 12px ${sans}`;
    c.fillStyle = col.soft;
    headings.forEach((text, i) => {
      const x = (size.x[i] ?? 0) * this.#k + this.#x;
      const room = (size.width[i] ?? 0) * this.#k + 60;
      if (this.#k > 0.12) c.fillText(this.#fit(text, room, c.font), x, 19);
    });
    const left = this.#w - bar;
    c.fillStyle = col.page;
    c.fillRect(left, 0, bar, this.#h);
    const tall = Math.max(1, this.#at.height);
    c.fillStyle = col.bad;
    this.#d.shapes.forEach((s, i) => {
      if (s.stopped) c.fillRect(left + 3, ((this.#at.y[i] ?? 0) / tall) * this.#h, bar - 6, 2.5);
    });
    const from = (-this.#y / this.#k / tall) * this.#h;
    const high = Math.max(10, (this.#h / this.#k / tall) * this.#h);
    c.strokeStyle = col.soft;
    c.lineWidth = 1.2;
    if (high < this.#h) {
      c.beginPath();
      c.roundRect(left + 1.5, Math.max(1, Math.min(from, this.#h - high)), bar - 3, high - 2, 4);
      c.stroke();
    }
  }
}
