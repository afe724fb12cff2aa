// A daemon that is not one: it serves the built pages with the headers of the real one, and
// answers with examples. For looking at pages and for tests of them, never for use.
//
//   npm run build && npm run dev            http://127.0.0.1:7474/#open=example
//   npm run dev -- --state empty            full (default), empty, broken, hostile, locked
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { desks } from './desks.mjs';
import { examples } from './examples.mjs';

const dist = new URL('../../internal/console/dist/', import.meta.url);
const types = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html floodmark-worker";

/** serve starts it; the result has `url`, `say` (an event for all watchers), `cut` and `close`.
 * `change` may change each answer, `read` each request. */
export async function serve({ port = 0, state = 'full', now = Date.now(), pace = 150, change = (_, answer) => answer, read = (request) => request } = {}) {
  const data = examples(state, now);
  const desk = desks(state, now);
  const watchers = new Set();
  const answers = [];
  const vouched = [];
  const asked = []; // the methods that were called
  let broken = state === 'broken';

  const envelope = (flags, message) => {
    const text = Buffer.from(JSON.stringify(message));
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(text.length, 1);
    return Buffer.concat([head, text]);
  };
  const say = (message) => {
    for (const w of watchers) w.write(envelope(0, change('OwnerService/Watch', { at: new Date().toISOString(), ...message })));
  };

  const methods = {
    'OwnerService/Status': () => data.status,
    'OwnerService/Sessions': () => ({ sessions: data.sessions }),
    'OwnerService/Pending': () => ({ questions: data.questions, unread: data.unread }),
    'OwnerService/Show': (r) => data.show(r.session),
    'OwnerService/Why': (r) => data.why(r.of),
    'OwnerService/Answer': (r) => {
      answers.push(r);
      const at = data.questions.findIndex((q) => q.ticket === r.ticket);
      if (at < 0) return { notice: 'This question was answered already.' };
      if (data.questions[at].seen !== r.seen) return { notice: 'What it shows has changed: look again.' };
      data.questions.splice(at, 1);
      say({ session: r.session, answered: { ticket: r.ticket, verdict: r.verb === 'approve' ? 'allow' : 'restrict', by: 'anna', channel: 'console' } });
      return { answered: true, notice: r.verb === 'approve' ? 'Approved: this call, once.' : 'Denied. The agent is told.' };
    },
    'OwnerService/Endorse': (r) => {
      const still = data.questions.some((q) => q.session === r.session && q.calls?.some((c) => (c.sources?.length ?? 0) > 1)); // something else it read
      if (!r.dryRun) vouched.push(r);
      return { done: true, notice: r.dryRun ? '' : 'You vouch for it now.', mark: { trust: still ? 'untrusted' : 'local', secrecy: 'internal' } };
    },
    'OwnerService/Withdraw': (r) => ({ done: true, notice: r.dryRun ? '' : 'You no longer vouch for it.', mark: { trust: 'untrusted', secrecy: 'internal' } }),
    ...desk.methods,
    ...data.methods,
  };

  const server = createServer(async (request, response) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cache-Control', 'no-store');
    const path = new URL(request.url, 'http://fake').pathname;
    const json = (status, body) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    try {
      if (request.method === 'GET') {
        const name = path === '/' ? 'index.html' : path.slice(1);
        if (!/^(index\.html|assets\/[\w.-]+)$/.test(name)) return json(404, { code: 'not_found', message: 'not found' });
        const file = await readFile(new URL(name, dist));
        response.setHeader('Content-Type', types[name.split('.').pop()] ?? 'application/octet-stream');
        return response.end(file);
      }
      const parts = [];
      for await (const part of request) parts.push(part);
      const body = Buffer.concat(parts);
      if (path === '/login') return JSON.parse(body).code === 'example' ? json(200, { token: 'example-token' }) : json(401, { code: 'unauthenticated', message: 'This link was used already, or it is older than a minute.' });
      if (request.headers.authorization !== 'Bearer example-token') return json(401, { code: 'unauthenticated', message: 'This tab is no longer logged in.' });
      const method = path.replace('/floodmark.v1.', '');
      if (method === 'OwnerService/Watch') {
        if (broken) return json(503, { code: 'unavailable', message: 'The daemon is busy starting.' });
        response.writeHead(200, { 'Content-Type': 'application/connect+json' });
        response.write(envelope(0, { at: new Date().toISOString() }));
        watchers.add(response);
        const alive = setInterval(() => response.write(envelope(0, { at: new Date().toISOString() })), 15_000);
        response.on('close', () => {
          clearInterval(alive);
          watchers.delete(response);
        });
        return;
      }
      asked.push(method);
      if (desk.streams[method]) {
        const messages = desk.streams[method](read(JSON.parse(body.subarray(5))));
        response.writeHead(200, { 'Content-Type': 'application/connect+json' });
        for (const message of messages) {
          response.write(envelope(0, change(method, message)));
          await new Promise((done) => setTimeout(done, pace));
          if (response.destroyed) return;
        }
        return response.end(envelope(2, {}));
      }
      if (!methods[method]) return json(404, { code: 'unimplemented', message: 'not in the examples' });
      json(200, change(method, methods[method](read(JSON.parse(body)))));
    } catch (e) {
      json(500, { code: 'internal', message: String(e) });
    }
  });
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    data,
    desk,
    answers,
    vouched,
    asked,
    say,
    /** cut ends all streams; until `mend`, none begins again. */
    cut: () => {
      broken = true;
      for (const w of watchers) w.destroy();
    },
    /** stop ends all streams as a monitor does that is stopped. */
    stop: () => {
      broken = true;
      for (const w of watchers) w.end(envelope(2, {}));
    },
    mend: () => (broken = false),
    close: () => {
      for (const w of watchers) w.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--state');
  const { url } = await serve({ port: 7474, state: at > 0 ? process.argv[at + 1] : 'full' });
  console.log(`${url}#open=example`);
}
