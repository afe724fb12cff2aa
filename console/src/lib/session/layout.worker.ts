import { layout, type LayoutInput } from './layout';
import { byDagre } from './order';

onmessage = (e: MessageEvent<{ id: number; input: LayoutInput }>): void => {
  const output = layout(e.data.input, byDagre);
  (postMessage as (m: unknown, t: Transferable[]) => void)({ id: e.data.id, output }, [output.x.buffer, output.y.buffer]);
};
