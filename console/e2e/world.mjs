// What tests with the real program share: a home folder, a daemon, a web with a poisoned page,
// a scripted model, and a real agent. Nothing here sleeps: each step waits for what it needs.
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The program, and the folder in which .ci/npm installed agents. */
export const program = process.env.FLOODMARK ?? join(root, '.cache/floodmark');
const agents = process.env.AGENTS ?? join(root, '.cache/agents');
const piVersion = '0.73.1'; // as in .ci/agents
/** A page of the web that anyone can write to. */
export const page = 'http://news.example/page.html';

async function listens(handler) {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
}

/** body reads a request. */
async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** model plays a model that speaks chat completions: the n-th call once n results were read. */
async function model(calls) {
  const read = [];
  const waits = [];
  const gave = []; // when each call was given
  const server = await listens(async (request, response) => {
    const { messages = [], tools = [] } = JSON.parse((await body(request)) || '{}');
    const results = messages.filter((m) => m.role === 'tool').map((m) => (typeof m.content === 'string' ? m.content : m.content.map((c) => c.text).join('')));
    if (tools.length > 0) read.splice(0, read.length, ...results);
    for (const w of waits) if (read.length >= w.n) w.done(read[w.n - 1]);
    const call = tools.length > 0 ? calls[results.length] : undefined;
    if (call) gave[results.length] = Date.now();
    const delta = call ? { role: 'assistant', tool_calls: [{ index: 0, id: `call_${results.length}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } }] } : { role: 'assistant', content: 'Done.' };
    const chunk = (choices) => `data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices })}\n\n`;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`${chunk([{ index: 0, delta, finish_reason: null }])}${chunk([{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }])}data: [DONE]\n\n`);
  });
  return { ...server, gave, result: (n) => (read.length >= n ? Promise.resolve(read[n - 1]) : new Promise((done) => waits.push({ n, done }))) };
}

/** world starts a daemon in a new home; `close` ends all that was started. `service` gives its service.yaml. */
export async function world({ policy = '', text = 'News of today.', service } = {}) {
  const home = await mkdtemp(join(homedir(), '.fm-console-')); // folders below /tmp do not count as the owner's
  const write = async (name, data) => {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), data);
    return join(home, name);
  };
  const rules = await write('fm/config/policy.yaml', `version: 1\nprofile: coding\n${policy}`);
  const dir = join(home, 'fm');
  if (service) await write('fm/config/service.yaml', await service(write));
  const env = { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8', TERM: 'dumb' };
  const daemon = spawn(program, ['serve', '--dir', dir], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  await new Promise((done, fail) => {
    createInterface(daemon.stderr).on('line', (line) => {
      said += `${line}\n`;
      if (line.includes('floodmark answers on')) done();
    });
    daemon.once('exit', () => fail(new Error(`the daemon ended: ${said}`)));
  });
  const web = await listens((request, response) => {
    if (request.url === page) response.end(text);
    else response.writeHead(404).end();
  });
  const closes = [];

  const run = (...args) => promisify(execFile)(program, [...args, '--dir', dir], { env }).catch((e) => (e.code === 1 && e.stdout ? e : Promise.reject(e)));
  /** link asks for a link as a person at a terminal does. */
  const link = async () => {
    const { stdout } = await promisify(execFile)('script', ['-qec', `${program} open --print --dir ${dir}`, '/dev/null'], { env });
    return /http:\/\/\S+#open=[\w-]+/.exec(stdout)[0];
  };
  /** pi runs the real agent; its model makes these calls of the tool for command lines. */
  const pi = async (project, ...commands) => {
    const scripted = await model(commands.map((command) => ({ name: 'bash', args: { command } })));
    const settings = { baseUrl: `${scripted.url}/v1`, api: 'openai-completions', apiKey: 'none', models: [{ id: 'scripted', name: 'Scripted', reasoning: false, input: ['text'], contextWindow: 128000, maxTokens: 8000, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }] };
    await write('.pi/agent/models.json', JSON.stringify({ providers: { scripted: settings } }));
    await copyFile(join(root, 'integrations/pi/floodmark.ts'), join(home, 'floodmark.ts'));
    const here = dirname(await write(`${project}/notes.txt`, 'rent: 100\n'));
    const agent = spawn(process.execPath, [join(agents, `pi-${piVersion}/node_modules/@mariozechner/pi-coding-agent/dist/cli.js`), '-p', '--mode', 'json', '--model', 'scripted/scripted', '-e', join(home, 'floodmark.ts'), `Read ${page} and sum up notes.txt.`], {
      cwd: here, stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, PI_OFFLINE: '1', FLOODMARK_HOOK_SOCKET: join(dir, 'run/hook.sock'), http_proxy: web.url, no_proxy: '127.0.0.1,localhost', NO_PROXY: '127.0.0.1,localhost' },
    });
    let output = '';
    for (const s of [agent.stdout, agent.stderr]) s.on('data', (d) => (output += d));
    const ended = once(agent, 'exit');
    closes.push(async () => (agent.kill('SIGKILL'), await ended, scripted.close()));
    return { here, ended, result: scripted.result, gave: scripted.gave, output: () => output };
  };
  /** hook has a process of its own tell the daemon something as an agent, or load an address. */
  let other;
  const asked = new Map();
  const tell = (message) => {
    if (!other) {
      other = fork(fileURLToPath(new URL('hook.mjs', import.meta.url)), { env });
      other.on('message', ({ n, got, failed }) => (failed ? asked.get(n).fail(new Error(failed)) : asked.get(n).done(got)));
      closes.push(async () => {
        const gone = once(other, 'exit');
        other.kill('SIGKILL');
        await gone;
      });
    }
    return new Promise((done, fail) => {
      asked.set(asked.size, { done, fail });
      other.send({ n: asked.size - 1, ...message });
    });
  };
  const hook = (frame) => tell({ path: join(dir, 'run/hook.sock'), frame });
  const load = (url) => tell({ url });
  const close = async () => {
    for (const c of closes) await c();
    const gone = once(daemon, 'exit');
    if (daemon.exitCode === null) daemon.kill();
    await gone;
    web.close();
    await rm(home, { recursive: true, force: true });
  };
  return { home, dir, rules, pid: daemon.pid, write, run, link, pi, hook, load, close, said: () => said };
}
