// Pictures of every page of the real program: empty, full of recorded sessions, and broken; in
// light and dark, as wide as a desk and as a phone. They are kept in docs/images/console.
//
//   .ci/console pictures [WORD]     builds what this needs; only pictures with the word in their name
//
// The home is /home/dev as in the recordings, so that no path of this machine gets into a picture.
// It must not exist before, and is gone afterwards. It needs bwrap, git, pi and pngquant.
import { execFile, fork } from 'node:child_process';
import { copyFile, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { launch } from './open.mjs';

const exec = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const [programs = join(root, '.cache/pictures'), pi = '', only = ''] = process.argv.slice(2);
const folder = join(root, 'docs/images/console');
const data = join(root, 'lab/codingday/testdata');
const home = '/home/dev';
const bin = join(home, '.local/bin');
const env = { HOME: home, PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TERM: 'dumb', GIT_CONFIG_NOSYSTEM: '1' };
const socket = join(home, '.local/state/floodmark/run/hook.sock');
const rules = join(home, '.config/floodmark/policy.yaml');
const longest = 1_900; // pixels of a page that are shown
const began = Date.now();
const say = (what) => console.log(`${String(Math.round((Date.now() - began) / 1000)).padStart(4)} s  ${what}`);

const write = async (name, text) => {
  await mkdir(dirname(join(home, name)), { recursive: true });
  await writeFile(join(home, name), text);
};
const run = (program, args, cwd = home) => exec(program, args, { cwd, env, maxBuffer: 1 << 24 });
const link = async () => /http:\/\/\S+#open=[\w-]+/.exec((await run('script', ['-qec', 'floodmark open --print', '/dev/null'])).stdout)[0];

/** archive reads a txtar file: the lines before, and the names of files with what is in them. */
async function archive(file) {
  const [head, ...parts] = (await readFile(file, 'utf8')).split(/^-- (.+) --\n/m);
  return { head, files: parts.flatMap((name, i) => (i % 2 === 0 ? [[name, parts[i + 1]]] : [])) };
}

/** among finds a file of the recordings in its set. */
async function among(kind, begins) {
  for (const set of ['', 'third']) {
    const name = (await readdir(join(data, set, kind))).find((n) => n.startsWith(begins));
    if (name) return archive(join(data, set, kind, name));
  }
  throw new Error(`no ${kind} ${begins}`);
}

const two = (n) => String(n).padStart(2, '0');

/** settle puts programs on the disk, and the repositories that the recordings begin with. */
async function settle() {
  await mkdir(bin, { recursive: true });
  for (const p of ['floodmark', 'floodmark-hook', 'floodmark-box']) await copyFile(join(programs, p), join(bin, p));
  await symlink(join(pi, 'node_modules/.bin/pi'), join(bin, 'pi'));
  await mkdir(join(home, '.pi/agent'), { recursive: true });
  for (const [name, text] of (await archive(join(data, 'house.txtar'))).files) if (name.startsWith('home/')) await write(name.slice(5), text);
  const bases = new Set();
  for (const { task, attack } of plays) {
    const { head, files } = await among('tasks', `${two(task)}-`);
    const base = /^base (\w+)$/m.exec(head)[1];
    if (!bases.has(base)) for (const [file, text] of (await among('bases', `${base}.`)).files) await write(join(base, file.replace(/^repo\//, '')), text);
    bases.add(base);
    for (const begins of attack ? ['repo/', 'poison/repo/'] : ['repo/']) for (const [file, text] of files) if (file.startsWith(begins)) await write(join(base, file.slice(begins.length)), text);
  }
  for (const base of bases) {
    const git = (...args) => run('git', args, join(home, base));
    await git('init', '-q', '-b', 'main');
    await git('remote', 'add', 'origin', `git@git.example:team/${base}.git`);
    await git('add', '-A');
    await git('commit', '-qm', `Begin ${base}`);
  }
}

/** agent is a process that speaks as an agent; it and what it starts open nothing in the console. */
function agent() {
  const child = fork(fileURLToPath(new URL('hook.mjs', import.meta.url)), ['agent'], { env });
  const asked = [];
  child.on('message', ({ n, got, failed }) => (failed ? asked[n].fail(new Error(failed)) : asked[n].done(got)));
  const send = (message) => new Promise((done, fail) => child.send({ n: asked.push({ done, fail }) - 1, ...message }));
  return { tell: (frame) => send({ path: socket, frame }), run: (command, cwd, FM_COMMAND = '') => send({ command, cwd, env: { FM_COMMAND } }), end: () => child.kill() };
}

/** play tells the daemon a recording as the agent's hooks did. What changes files in a project is
 * done again, in the box that the daemon asks for or in one without a network. `answer` gives a
 * person's words on a question: yes, no, or nothing, and then the agent waits. */
async function play({ task, attack = false, answers = [] }, agents, page) {
  const text = gunzipSync(await readFile(join(data, `traces/${two(task)}.jsonl.gz`))).toString();
  const t = text.trim().split('\n').map((l) => JSON.parse(l)).find((t) => t.attack === attack);
  const events = t.events.map((e) => ({ ...e, raw: JSON.parse(JSON.stringify(e.raw).replace(/"(s\d)"/g, `"${t.agent}-${task}-$1"`)) }));
  const me = agent();
  agents.push(me);
  const gone = new Set(); // calls that did not run
  const ran = new Map(); // what others were changed to, and what came of it
  let at = 0;
  say(`${t.agent}: ${t.title}${attack ? `, attacked: ${t.goal}` : ''}`);
  const about = (e) => e.raw.event ?? e.raw;
  const call = (e) => about(e).toolCallId ?? about(e).tool_use_id;
  for (const e of events) {
    const [one, id] = [about(e), call(e)];
    const asks = e.event === 'tool_call' || e.event === 'PreToolUse';
    if (gone.has(id)) continue;
    if (ran.has(id)) Object.assign(one, ran.get(id));
    const told = me.tell({ agent: t.agent, event: e.event, raw: e.raw, env: { HOME: home }, deadline_ms: 10_000, person_ms: asks ? 900_000 : undefined });
    if (!asks) {
      await told;
      continue;
    }
    const card = page.locator('article[data-ticket]', { has: page.locator(`a[href*="${t.agent}-${task}-s"]`) }).filter({ has: page.getByRole('button', { name: /^No\b/ }) });
    const waits = await Promise.race([told.then(() => false), card.waitFor({ timeout: 0 }).then(() => true, () => false)]);
    const command = one.input?.command ?? one.tool_input?.command ?? one.input?.path ?? '';
    if (waits) {
      const said = answers[at++];
      say(`  asked about ${command.slice(0, 80)}: ${said ?? 'waits'}`);
      if (!said) return;
      await page.waitForTimeout(800); // a card that has just come takes no yes
      await card.getByRole('button', { name: said === 'yes' ? /^Yes/ : /^No\b/ }).click();
    }
    const answer = JSON.parse((await told).stdout || '{}');
    const cwd = e.raw.cwd ?? e.raw.ctx.cwd;
    if (answer.command) {
      const { out } = await me.run(answer.command, cwd);
      say(`  boxed ${command.slice(0, 80)}: ${out.slice(0, 80)}`);
      ran.set(id, { input: { command: answer.command }, content: [{ type: 'text', text: out.slice(0, 4_000) }] });
    } else if (answer.block || answer.hookSpecificOutput?.permissionDecision === 'deny') {
      if (!waits) say(`  refused ${command.slice(0, 80)}: ${answer.reason ?? answer.hookSpecificOutput.permissionDecisionReason}`);
      gone.add(id);
    } else await change(one, cwd, events.some((x) => x !== e && x.files && call(x) === id), me);
  }
}

/** change does to the disk what a call did that ran. A command does it without a network. */
async function change(call, cwd, wrote, me) {
  const { path, content, edits, command } = call.input ?? call.tool_input;
  if (command && wrote) await me.run(`exec bwrap --unshare-net --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind ${cwd} ${cwd} --chdir ${cwd} bash -c "$FM_COMMAND"`, cwd, command);
  else if (content !== undefined && path) await write(join(cwd.slice(home.length), path), content);
  else if (edits) {
    const at = join(cwd, path);
    let text = await readFile(at, 'utf8').catch(() => '');
    for (const { oldText, newText } of edits) text = text.replace(oldText, () => newText);
    await writeFile(at, text);
  }
}

/** The rules of the example. */
const own = `# Anything not set here is as in the profile.
version: 1
profile: coding

sources:
  - host: wiki.firm.example # our own pages
    trust: shared

table:
  run: {external: contain, untrusted: contain}
  send: {external: confirm, untrusted: confirm}

approvals: {ttl: 120s, wait: 10m}
`;
/** What the agents did, and what a person answered; without an answer the agent still waits. */
const plays = [
  { task: 10 },
  { task: 8 },
  { task: 28, attack: true },
  { task: 76 },
  { task: 68, attack: true, answers: ['no', 'no', 'no'] },
  { task: 62, attack: true },
  { task: 20, attack: true, answers: ['no', 'no'] },
  { task: 12, attack: true, answers: ['no', 'yes', 'yes', 'no'] },
  { task: 72, attack: true },
  { task: 14, attack: true, answers: ['no', 'yes'] },
  { task: 2, attack: true },
  { task: 0, attack: true },
  { task: 31, attack: true },
  { task: 42, attack: true, answers: ['no'] },
];
const subject = '#/session/pi%3Api-42-s2';

/** shapes are the four ways in which each page is taken. */
const shapes = ['light', 'dark'].flatMap((scheme) => [1280, 360].map((width) => ({ scheme, width })));
const names = { now: '#/now', sessions: '#/session', session: subject, rules: '#/rules', 'rules-tried': '#/rules', did: '#/did/7' };
let taken = 0;
let bytes = 0;
let wrong = 0;

/** tab opens a page in a tab of its own. */
async function tab(browser, hash) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (e) => (wrong++, say(String(e))));
  await page.goto(await link());
  await page.locator('.dot.live').waitFor();
  await show(page, hash);
  return page;
}

/** show goes to a page anew. */
async function show(page, hash) {
  for (const h of ['#/now', hash]) {
    await page.evaluate((h) => (location.hash = h), h);
    await calm(page);
  }
}

/** calm waits until a page has nothing more to read, check or draw. */
async function calm(page) {
  await page.waitForLoadState('networkidle', { timeout: 400 }).catch(() => undefined); // the stream never ends
  await page.waitForFunction(() => !/Placing…|Drawing…|Reading|Checking…|Loading…/.test(document.querySelector('main')?.innerText ?? 'Loading…'));
  await page.waitForTimeout(400);
}

/** shot takes a picture of a whole page, and makes it small. */
async function shot(page, file) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(100);
  const [over, tall] = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight]);
  if (over > 0) (wrong++, say(`${file} is ${over} px too wide`));
  const path = join(folder, `${file}.png`);
  await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width: page.viewportSize().width, height: Math.min(tall, longest) } });
  await exec('pngquant', ['--force', '--ext', '.png', '--strip', '--speed', '1', '64', path]);
  taken++;
  bytes += (await stat(path)).size;
}

/** shots takes a page in its four shapes. Only the drawing of a session is begun anew in each. */
async function shots(page, name, state, hash) {
  let first = true;
  for (const { scheme, width } of shapes) {
    const file = `${name}-${state}-${scheme}-${width}`;
    if (!file.includes(only)) continue;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: scheme });
    if (!first && name === 'session') await show(page, hash);
    if (first || name === 'session') await acts[`${name} ${state}`]?.(page);
    first = false;
    await calm(page);
    await shot(page, file);
  }
  say(`${name}, ${state}`);
}

const field = (page) => page.getByLabel('The text of the rules');
const replace = (page, from, to) => field(page).evaluate((el, [a, b]) => {
  el.value = el.value.replace(a, b);
  el.dispatchEvent(new Event('input', { bubbles: true }));
}, [from, to]);

/** trial asks what another text would have changed. */
async function trial(page) {
  const [from, to] = (await field(page).inputValue()).includes('untrusted: contain}') ? ['{external: contain, untrusted: contain}', '{external: allow, untrusted: allow}'] : ['profile: coding', 'profile: strict'];
  await replace(page, from, to);
  await page.getByRole('button', { name: /What would/ }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
}

/** What is done on a page before its picture, by page and state. */
const acts = {
  'rules-tried empty': trial,
  'rules-tried full': trial,
  'session full': async (page) => {
    await page.getByRole('button', { name: 'Show what changed in them' }).click();
    await page.locator('details.content summary').first().click();
  },
  'rules broken': async (page) => {
    await replace(page, 'untrusted: confirm}', 'untrusted: alow}\nworkspaces: []');
    await page.getByText(/errors?: /).first().waitFor();
  },
  'rules-tried broken': async (page) => {
    await trial(page);
    await writeFile(rules, `${own}# written by another program\n`);
    await page.getByRole('button', { name: /^Save/ }).first().click();
    await page.getByText('Not saved').waitFor();
    await writeFile(rules, own);
  },
};

/** all takes pages in one state. */
async function all(browser, state, pages) {
  for (const [name, hash] of Object.entries(pages)) {
    const page = await tab(browser, hash);
    await shots(page, name, state, hash);
    await page.close();
  }
}

/** save puts rules in force, as the page does. */
const save = (page, text) => page.evaluate(async (text) => {
  const call = async (method, message) => (await fetch(`/floodmark.v1.ConsoleService/${method}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${sessionStorage.getItem('floodmark-token')}` }, body: JSON.stringify(message) })).json();
  const { files } = await call('Rules', {});
  const got = await call('SaveRules', { text, read: files[0].digest });
  if (!got.loaded) throw new Error(JSON.stringify(got));
}, text);

await mkdir(home);
await mkdir(folder, { recursive: true });
const browser = await launch();
const agents = [];
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => browser.close()); // what waits for a page ends, and then all of it
try {
  await settle();
  say('a home with projects; floodmark up');
  await run('floodmark', ['up', 'pi', '--yes']);

  const { session, ...others } = names;
  await all(browser, 'empty', others);
  const begun = agent();
  agents.push(begun);
  await begun.tell({ agent: 'pi', event: 'session_start', raw: { event: { type: 'session_start', reason: 'startup' }, ctx: { cwd: join(home, 'handbook'), sessionId: 'begun' } }, env: { HOME: home }, deadline_ms: 10_000 });
  await all(browser, 'empty', { session: '#/session/pi%3Abegun' });
  const person = await tab(browser, '#/now');
  await save(person, own);
  for (const p of plays) await play(p, agents, person);
  await show(person, subject);
  await person.locator('li', { hasText: 'docs/rounding-notes.md' }).getByRole('button', { name: 'Trust it…' }).first().click();
  await person.getByRole('button', { name: 'Trust this source', exact: true }).click();
  await person.getByRole('button', { name: 'Take back…' }).first().waitFor();
  await person.close();
  await all(browser, 'full', names);
  await all(browser, 'broken', { session: '#/session/pi%3Anone', rules: '#/rules', 'rules-tried': '#/rules' });

  const left = [];
  for (const name of ['now', 'sessions', 'did']) left.push([name, await tab(browser, names[name])]);
  const { pid } = JSON.parse(await readFile(join(home, '.local/state/floodmark/running'), 'utf8'));
  process.kill(pid, 'SIGKILL'); // a monitor that is stopped ends its pages
  for (const [name, page] of left) {
    await page.getByText('Not live.').waitFor();
    if (name === 'did') await page.getByRole('link', { name: '24 hours' }).click();
    await shots(page, name, 'broken');
  }
  say(`${taken} pictures, ${Math.round(bytes / 1000)} kB, in ${folder}`);
} finally {
  for (const a of agents) a.end();
  await browser.close();
  await run('floodmark', ['down', '--yes']).catch(() => undefined);
  await rm(home, { recursive: true, force: true });
}
if (wrong > 0) process.exit(1);
