// What takes long, or many sessions: how fast the first page is with many sessions in the
// store, a thousand events a second for a while, and what a daemon that nobody opened weighs.
//
//   node e2e/soak.mjs --store DIR --sessions 100000 [--older PROGRAM] [--seconds 600] [--commit C] [--json FILE]
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { open } from './open.mjs';
import { program } from './world.mjs';

const { values: o } = parseArgs({ options: { store: { type: 'string' }, sessions: { type: 'string' }, older: { type: 'string' }, olderCommit: { type: 'string' }, seconds: { type: 'string', default: '600' }, commit: { type: 'string', default: '' }, json: { type: 'string' } } });
const began = Date.now();
const middle = (l) => [...l].sort((a, b) => a - b)[l.length >> 1];
const round = (n) => Math.round(n * 10) / 10;

/** daemon starts a program in a folder and waits until it answers. */
async function daemon(path, dir) {
  const env = { HOME: dir, PATH: process.env.PATH, LANG: 'C.UTF-8' };
  const child = spawn(path, ['serve', '--dir', dir], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise((done, fail) => {
    createInterface(child.stderr).on('line', (line) => line.includes('floodmark answers on') && done());
    child.once('exit', () => fail(new Error(`${path} ended`)));
  });
  const rss = async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;
  const link = async () => /http:\/\/\S+#open=[\w-]+/.exec((await promisify(execFile)('script', ['-qec', `${path} open --print --dir ${dir}`, '/dev/null'], { env })).stdout)[0];
  const stop = async () => {
    const gone = once(child, 'exit');
    child.kill();
    await gone;
  };
  return { rss, link, stop };
}

/** weight is the memory of a daemon in an empty folder that nobody opened, some seconds after its start. */
async function weight(path) {
  const dir = await mkdtemp(join(homedir(), '.fm-console-'));
  const d = await daemon(path, dir);
  await new Promise((done) => setTimeout(done, 5_000));
  const mb = await d.rss();
  await d.stop();
  await rm(dir, { recursive: true });
  return mb;
}

const report = { suite: 'console', commit: o.commit, seconds: 0 };
if (o.store) {
  const d = await daemon(program, o.store);
  const { browser, page, wrong } = await open(await d.link(), {});
  // The frame of the page is there at once; the questions when the daemon has gone through all sessions.
  const first = Date.now();
  const questions = await page.locator('#open').waitFor({ timeout: 120_000 }).then(() => Date.now() - first, () => undefined);
  const [paint, whole] = [[], []];
  for (let i = 0; i < 15; i++) {
    await page.reload();
    await page.locator('header').waitFor();
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    if (questions !== undefined && i < 3 && (await page.locator('#open').waitFor({ timeout: 60_000 }).then(() => true, () => false))) whole.push(await page.evaluate(() => performance.now()));
    paint.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
  }
  report.firstPaint = { sessions: Number(o.sessions), loads: paint.length, medianMs: round(middle(paint)), worstMs: round(Math.max(...paint)), questionsFirstMs: questions ?? 'not in 120 s', questionsMedianMs: whole.length > 0 ? round(middle(whole)) : 'not in 60 s', atMostMs: 300, daemonMB: round(await d.rss()), wrong };
  await browser.close();
  await d.stop();
  console.log(report.firstPaint);
}
if (o.older) {
  const [before, now] = [[], []];
  for (let i = 0; i < 5; i++) {
    before.push(await weight(o.older));
    now.push(await weight(program));
  }
  report.memoryUnopened = { before: o.olderCommit, starts: before.length, beforeMB: round(middle(before)), nowMB: round(middle(now)), allBeforeMB: before.map(round), allNowMB: now.map(round) };
  console.log(report.memoryUnopened);
}
const run = async (name, ...args) => JSON.parse((await promisify(execFile)(process.execPath, [fileURLToPath(new URL(name, import.meta.url)), ...args], { maxBuffer: 1 << 24 }).catch((e) => (e.stdout ? e : Promise.reject(e)))).stdout.trim().split('\n').at(-1));
report.frames = await run('frames.mjs', '--json');
console.log(report.frames);
report.live = await run('flood.mjs', o.seconds, '--json');
console.log(report.live);
report.seconds = Math.round((Date.now() - began) / 1000);
if (o.json) await writeFile(o.json, `${JSON.stringify(report, null, 2)}\n`);
