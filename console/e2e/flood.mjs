// A thousand events a second for a while: the page keeps up, and its memory does not grow.
//
//   node e2e/flood.mjs [seconds] [--json]
import { serve } from '../dev/fake.mjs';
import { open } from './open.mjs';

const seconds = Number(process.argv[2] ?? 20);
const fake = await serve({});
const { browser, page, wrong } = await open(`${fake.url}#open=example`);
await page.getByRole('heading', { level: 1 }).waitFor();
const session = await page.context().newCDPSession(page);
const heap = async () => {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1e6;
};
await page.evaluate(() => {
  globalThis.frames_ = [];
  let last = performance.now();
  const frame = (t) => (globalThis.frames_.push(t - last), (last = t), requestAnimationFrame(frame));
  requestAnimationFrame(frame);
});
const sizes = [await heap()];
let n = 0;
const names = ['s-ledger', 's-site', 's-docs', 's-notes'];
const timer = setInterval(() => {
  for (let i = 0; i < 20; i++, n++) {
    const s = names[n % 4];
    fake.say({ session: s, agent: 'pi', decided: { id: `${s}#${n}`, at: new Date().toISOString(), action: { kind: 'call-tool', tool: { name: 'bash' }, effects: ['run'], arguments: [{ path: 'command', shown: `make step-${n}` }] }, mark: { trust: 'local', secrecy: 'internal' }, decision: { verdict: 'allow', reach: 'free' } } });
    if (n % 10 === 0) fake.say({ session: s, agent: 'pi', boxed: { id: `${s}#b${n}`, at: new Date().toISOString(), action: {}, decision: { verdict: 'allow', reach: 'boxed' }, box: { end: 'ended', command: `curl ${n}`, failed: true, exit: 6, wanted: [`host-${n}.example`] } } });
  }
}, 20);
for (let i = 0; i < 4; i++) {
  await new Promise((done) => setTimeout(done, (seconds * 1000) / 4));
  sizes.push(await heap());
}
clearInterval(timer);
const frames = (await page.evaluate(() => globalThis.frames_)).sort((a, b) => a - b);
console.log(`${n} events in ${seconds} s; heap in MB: ${sizes.map((s) => s.toFixed(1)).join(', ')}; frames in ms: median ${frames[frames.length >> 1].toFixed(0)}, 99 % ${frames[Math.floor(frames.length * 0.99)].toFixed(0)}`);
console.log(await page.locator('section', { hasText: 'Sessions' }).locator('.deed').first().innerText(), wrong);
const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
console.log(`first paint ${paint?.toFixed(0)} ms`);
await browser.close();
fake.close();
if (process.argv.includes('--json')) console.log(JSON.stringify({ seconds, events: n, perSecond: Math.round(n / seconds), heapMB: sizes.map((s) => Math.round(s * 10) / 10), frameMedianMs: Math.round(frames[frames.length >> 1]), wrong }));
