// Where things are drawn: time goes down by turns; what was read stands on the left, what was done
// on the right of it, and files on the far right. In the worker dagre orders small turns so that
// few lines cross; all else is ordered by the middle of what it is joined with.

export interface LayoutNode {
  turn: number;
  column: number;
}
export interface LayoutInput {
  nodes: LayoutNode[];
  lines: [number, number][];
}
export interface Band {
  turn: number;
  top: number;
  bottom: number;
}
export interface LayoutOutput {
  x: Float32Array;
  y: Float32Array;
  bands: Band[];
  height: number;
}

export const size = { width: [270, 290, 220], height: 42, x: [30, 470, 900], total: 1150 } as const;
const row = size.height + 10;
const gap = 34; // between turns

/** An Order puts the nodes of one turn into its columns, from the top. */
export type Order = (nodes: number[], lines: [number, number][], column: (i: number) => number, all: number) => number[][];

/** layout places everything. The same input gives the same drawing. */
export function layout(input: LayoutInput, by: Order = byMiddle): LayoutOutput {
  const n = input.nodes.length;
  const out: LayoutOutput = { x: new Float32Array(n), y: new Float32Array(n), bands: [], height: 0 };
  const turns = new Map<number, number[]>();
  input.nodes.forEach((node, i) => {
    out.x[i] = size.x[node.column as 0 | 1 | 2] ?? size.x[1];
    const list = turns.get(node.turn);
    if (list) list.push(i);
    else turns.set(node.turn, [i]);
  });
  const within = new Map<number, [number, number][]>();
  for (const [a, b] of input.lines) {
    const turn = input.nodes[a]?.turn;
    if (turn === undefined || input.nodes[b]?.turn !== turn) continue;
    const list = within.get(turn);
    if (list) list.push([a, b]);
    else within.set(turn, [[a, b]]);
  }
  let top = 64;
  for (const turn of [...turns.keys()].sort((a, b) => a - b)) {
    const nodes = turns.get(turn) as number[];
    const lines = within.get(turn) ?? [];
    const column = (i: number): number => input.nodes[i]?.column ?? 1;
    const bottom = place(by(nodes, lines, column, n), out, top);
    out.bands.push({ turn, top, bottom });
    top = bottom + gap;
  }
  out.height = top;
  return out;
}

/** byMiddle sorts each column by the middle of what it is joined with, twice. */
export function byMiddle(nodes: number[], lines: [number, number][], column: (i: number) => number): number[][] {
  const columns = [0, 1, 2].map((c) => nodes.filter((i) => column(i) === c));
  const near = neighbours(lines);
  const at = new Map<number, number>();
  for (const list of columns) list.forEach((i, k) => at.set(i, k));
  const sort = (c: number, to: number): void => {
    const list = columns[c] as number[];
    const middle = new Map(
      list.map((i) => {
        const places = (near.get(i) ?? []).filter((o) => column(o) === to).map((o) => at.get(o) ?? 0);
        return [i, places.length > 0 ? places.reduce((a, b) => a + b, 0) / places.length : (at.get(i) ?? 0)];
      }),
    );
    list.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0) || a - b);
    list.forEach((i, k) => at.set(i, k));
  };
  for (let n = 0; n < 2; n++) {
    sort(1, 0);
    sort(2, 1);
    sort(0, 1);
  }
  return columns;
}

function neighbours(lines: [number, number][]): Map<number, number[]> {
  const near = new Map<number, number[]>();
  const add = (a: number, b: number): void => {
    const list = near.get(a);
    if (list) list.push(b);
    else near.set(a, [b]);
  };
  for (const [a, b] of lines) {
    add(a, b);
    add(b, a);
  }
  return near;
}

/** place puts the columns side by side, the shorter ones in the middle, and gives the bottom. */
function place(columns: number[][], out: LayoutOutput, top: number): number {
  const most = Math.max(...columns.map((c) => c.length), 1);
  for (const list of columns) {
    const spread = list.length > 1 ? Math.min(1.8, Math.max(1, (most - 1) / Math.max(1, list.length - 1))) : 1;
    const from = top + ((most - 1 - (list.length - 1) * spread) / 2) * row;
    list.forEach((i, k) => (out.y[i] = from + k * spread * row));
  }
  return top + most * row - 10;
}
