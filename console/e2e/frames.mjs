// How long a frame takes while a drawing of 5,000 nodes is moved and made larger and smaller.
//
//   npm run build && node e2e/frames.mjs [--json]  ends with an error above 33 ms in the middle
import { serve } from '../dev/fake.mjs';
import { open } from './open.mjs';

const most = 33; // milliseconds, the median frame
const fake = await serve({});
const { browser, page, wrong } = await open(`${fake.url}#open=example`);
await page.waitForTimeout(300);
await page.evaluate(() => (location.hash = '#/session/s-deploy'));
await page.getByRole('button', { name: /^Unfold all/ }).waitFor({ timeout: 30_000 });
const folded = Date.now();
await page.getByRole('button', { name: /^Unfold all/ }).click();
await page.getByRole('button', { name: 'Fold what is alike' }).waitFor();
await page.waitForFunction(() => !/Placing…/.test(document.body.innerText), undefined, { timeout: 60_000 });
await page.waitForTimeout(400);
const placed = Date.now() - folded - 400;
const box = await page.locator('canvas').boundingBox();
const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];

const moves = {};
/** frames acts for a while and gives the times between frames. */
async function frames(name, act) {
  await page.evaluate(() => {
    globalThis.times = [];
    let last = performance.now();
    const each = (now) => {
      globalThis.times.push(now - last);
      last = now;
      globalThis.going = requestAnimationFrame(each);
    };
    globalThis.going = requestAnimationFrame(each);
  });
  await act();
  const times = (await page.evaluate(() => (cancelAnimationFrame(globalThis.going), globalThis.times))).slice(2).sort((a, b) => a - b);
  const at = (p) => times[Math.min(times.length - 1, Math.floor(times.length * p))].toFixed(1);
  console.log(`${name}: ${times.length} frames, median ${at(0.5)} ms, 95th ${at(0.95)} ms, longest ${at(1)} ms`);
  moves[name] = { frames: times.length, medianMs: Number(at(0.5)), p95Ms: Number(at(0.95)) };
  return times[Math.floor(times.length / 2)];
}

const drag = async () => {
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let n = 0; n < 120; n++) await page.mouse.move(x + Math.sin(n / 9) * 60, y - Math.sin(n / 14) * 220);
  await page.mouse.up();
};
const zoom = async () => {
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  for (let n = 0; n < 90; n++) await page.mouse.wheel(0, n < 45 ? 60 : -60);
  await page.keyboard.up('Control');
};
const nodes = await page.evaluate(() => document.querySelector('.tools')?.textContent);
console.log(`drawn whole (${nodes?.match(/Fold|Unfold.*?\d[\d,]*/)?.[0] ?? '?'}), placed in ${placed} ms`);
let worst = 0;
worst = Math.max(worst, await frames('move at reading size', drag));
worst = Math.max(worst, await frames('larger and smaller', zoom));
await page.getByRole('button', { name: 'Fit' }).click();
await page.waitForTimeout(200);
worst = Math.max(worst, await frames('all of it in sight, larger and smaller', zoom));
for (let n = 0; n < 5; n++) await page.keyboard.press('-');
await page.getByRole('button', { name: 'Larger' }).click();
worst = Math.max(worst, await frames('from far, move', drag));
worst = Math.max(worst, await frames('pointing at things', async () => {
  for (let n = 0; n < 120; n++) await page.mouse.move(box.x + 120 + (n % 3) * 250, box.y + 60 + n * 4);
}));
await browser.close();
fake.close();
if (wrong.length > 0) console.log(wrong);
if (process.argv.includes('--json')) console.log(JSON.stringify({ nodes: 5000, placedMs: placed, worstMedianMs: Math.round(worst * 10) / 10, atMostMs: most, moves, wrong }));
if (worst > most || wrong.length > 0) process.exit(1);
