// The order of one turn by dagre. It is only read by the worker.

import { Graph, layout as dagre } from '@dagrejs/dagre';
import { byMiddle, size } from './layout';

const most = 160; // nodes of a turn that dagre orders
const mostInAll = 1_500;

/** byDagre gives the columns in an order with few crossings. */
export function byDagre(nodes: number[], lines: [number, number][], column: (i: number) => number, all: number): number[][] {
  if (lines.length === 0 || nodes.length > most || all > mostInAll) return byMiddle(nodes, lines, column);
  const g = new Graph({ multigraph: false });
  g.setGraph({ rankdir: 'LR', nodesep: 10, ranksep: 100, ranker: 'longest-path' });
  g.setDefaultEdgeLabel(() => ({}));
  // Anchors hold each column together: what is not joined with anything has its place, too.
  g.setNode('a0', { width: 1, height: 1 }).setNode('a1', { width: 1, height: 1 }).setNode('a2', { width: 1, height: 1 });
  g.setEdge('a0', 'a1', { weight: 0 }).setEdge('a1', 'a2', { weight: 0 });
  for (const i of nodes) {
    const c = column(i);
    g.setNode(String(i), { width: 100, height: size.height });
    if (c === 0) g.setEdge(String(i), 'a1', { weight: 0 });
    else g.setEdge(`a${c - 1}`, String(i), { weight: 0 });
    if (c === 1) g.setEdge(String(i), 'a2', { weight: 0 });
  }
  for (const [a, b] of lines) if (column(b) === column(a) + 1) g.setEdge(String(a), String(b), { weight: 2 });
  dagre(g);
  const at = (i: number): number => (g.node(String(i)) as { y: number }).y;
  return [0, 1, 2].map((c) => nodes.filter((i) => column(i) === c).sort((a, b) => at(a) - at(b) || a - b));
}
