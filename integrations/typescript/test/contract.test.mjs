// Holds the TypeScript client against the contract that every client keeps.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

import { Denied, MAX_REPLY_BYTES, Monitor, Withheld } from "@floodmark/client";

const table = process.env.CONTRACT ?? new URL("../../testdata/contract.json", import.meta.url);
const ALLOW = { decision: { verdict: "allow" } };
const TIMEOUT = 20000; // enough on a busy machine
const SHORT = 1000; // where no answer comes

/** A monitor that answers as it is told and keeps what it hears. */
async function scripted(exchanges, f) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fm-"));
  const at = path.join(folder, "s");
  const left = [...exchanges];
  const heard = [];
  const open = new Set();
  const server = net.createServer((conn) => {
    open.add(conn);
    conn.on("error", () => {});
    let got = Buffer.alloc(0);
    conn.on("data", (data) => {
      got = Buffer.concat([got, data]);
      const end = got.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = got.subarray(0, end).toString().split("\r\n");
      const chunked = head.some((h) => /^transfer-encoding: chunked/i.test(h));
      const length = Number(head.find((h) => /^content-length:/i.test(h))?.split(":")[1]);
      const body = got.subarray(end + 4);
      assert.ok(!chunked, "the body has a length");
      if (body.length < length) return;
      heard.push({ head, event: JSON.parse(body.toString()) });
      answer(conn, left.shift() ?? { fail: "hangup" });
    });
  });
  await new Promise((done) => server.listen(at, done));
  try {
    return await f(at, heard);
  } finally {
    for (const conn of open) conn.destroy();
    await new Promise((done) => server.close(done));
    fs.rmSync(folder, { recursive: true });
  }
}

function answer(conn, x) {
  if (x.fail === "silence") return;
  if (x.fail === "hangup") return conn.destroy();
  if (x.fail === "trickle") return trickle(conn, Buffer.from(`HTTP/1.1 200 X\r\nX: ${"x".repeat(600)}`));
  const body = Buffer.from(x.body ?? JSON.stringify(x.reply));
  const extra = x.fail === "stall" || x.fail === "cut" ? 100 : 0;
  const location = x.status === 302 ? "Location: /elsewhere\r\n" : "";
  conn.write(`HTTP/1.1 ${x.status ?? 200} X\r\nContent-Type: application/json\r\nContent-Length: ${body.length + extra}\r\n${location}\r\n`);
  conn.write(body);
  if (x.fail !== "stall") conn.end();
}

function trickle(conn, bytes) {
  if (conn.destroyed || bytes.length === 0) return;
  conn.write(bytes.subarray(0, 1));
  setTimeout(trickle, 50, conn, bytes.subarray(1));
}

class ToolError extends Error {}

async function perform(monitor, c, ran) {
  const session = await monitor.start("helper", { session: "s1", ...c.start });
  switch (c.do) {
    case "said": {
      const { text, ...options } = c.said;
      return { heard: await session.said(text, options) };
    }
    case "tool":
      return {
        ok: await session.run(c.call, async (args) => {
          ran.push(args);
          assert.deepEqual(args, c.call.args);
          if (c.raises) throw new ToolError(c.raises);
          return c.returns;
        }),
      };
    case "emit":
      return { ok: await session.emit(c.emit.text, c.emit.to) };
    case "end":
      await session.end();
  }
  return { ok: true };
}

function failed(err) {
  if (err instanceof Denied) return { denied: err.message, ...(err.ticket ? { ticket: err.ticket } : {}) };
  if (err instanceof Withheld) return { withheld: err.message };
  if (err instanceof ToolError) return { error: err.message };
  throw err;
}

const { cases } = JSON.parse(fs.readFileSync(table, "utf8"));
assert.ok(cases.length >= 40);

for (const c of cases) {
  test(`contract: ${c.name}`, async () => {
    const skip = c.do === "start" ? 0 : 1;
    const exchanges = skip ? [{ reply: ALLOW }, ...c.exchanges] : c.exchanges;
    await scripted(exchanges, async (at, heard) => {
      const ran = [];
      const silent = exchanges.some((x) => ["silence", "stall", "trickle"].includes(x.fail));
      const began = Date.now();
      const outcome = await perform(new Monitor(at, { timeout: silent ? SHORT : TIMEOUT }), c, ran).catch(failed);
      assert.ok(Date.now() - began < 20000);
      assert.deepEqual(outcome, c.outcome);
      assert.equal(ran.length, c.ran ? 1 : 0);
      assert.deepEqual(heard.slice(skip).map((h) => h.event), c.exchanges.map((x) => x.request));
      for (const h of heard) assert.equal(h.head[0], "POST /floodmark.v1.HookService/Handle HTTP/1.1");
    });
  });
}

test("a tool gets what was judged", () =>
  scripted([{ reply: ALLOW }, { reply: ALLOW }, { reply: ALLOW }], async (at, heard) => {
    const session = await new Monitor(at, { timeout: TIMEOUT }).start("helper");
    const send = session.tool("send", ({ to }) => to, "mail");
    const args = { to: ["anna@firm.example"] };
    const running = send(args);
    args.to.push("mallory@evil.example");
    assert.deepEqual(await running, ["anna@firm.example"]);
    assert.deepEqual(heard[1].event.call.args, { to: ["anna@firm.example"] });
    assert.equal(heard[1].event.call.server, "mail");
    assert.deepEqual(heard[2].event.call, heard[1].event.call);
  }));

test("arguments that cannot be judged, and a result that cannot be taken in", () =>
  scripted([{ reply: ALLOW }, { reply: ALLOW }], async (at) => {
    const session = await new Monitor(at, { timeout: TIMEOUT }).start("helper");
    const round = {};
    round.round = round;
    const ran = [];
    const send = session.tool("send", (args) => (ran.push(args), round));
    await assert.rejects(send(round), Denied);
    await assert.rejects(send({ n: 1n }), Denied);
    assert.equal(ran.length, 0);
    await assert.rejects(send({}), Withheld);
    assert.equal(ran.length, 1);
  }));

test("no daemon", async () => {
  await assert.rejects(new Monitor("/nowhere/hook.sock", { timeout: TIMEOUT }).start("helper"), Denied);
});

test("an endless answer", async () => {
  const body = JSON.stringify(ALLOW);
  for (const extra of [0, 1]) {
    const padded = body + " ".repeat(MAX_REPLY_BYTES - body.length + extra);
    await scripted([{ body: padded }], async (at) => {
      const starting = new Monitor(at, { timeout: TIMEOUT }).start("helper");
      await (extra ? assert.rejects(starting, Denied) : starting);
    });
  }
});

test("https with a token", { skip: spawnSync("openssl", ["version"]).status !== 0 }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fm-"));
  const [cert, key] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
  const how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost";
  execFileSync("openssl", [...how.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
  const pem = { cert: fs.readFileSync(cert, "utf8"), key: fs.readFileSync(key, "utf8") };
  fs.rmSync(folder, { recursive: true });
  for (const [version, trusted, fits] of [["TLSv1.3", true, true], ["TLSv1.3", false, false], ["TLSv1.2", true, false]]) {
    const heard = [];
    const server = https.createServer({ ...pem, maxVersion: version }, (request, response) => {
      heard.push(request.headers.authorization);
      response.end(JSON.stringify(ALLOW));
    });
    await new Promise((done) => server.listen(0, "localhost", done));
    const options = { token: "t0k", timeout: TIMEOUT, ...(trusted ? { ca: pem.cert } : {}) };
    const starting = new Monitor(`https://localhost:${server.address().port}`, options).start("helper");
    await (fits ? starting : assert.rejects(starting, Denied));
    assert.deepEqual(heard, fits ? ["Bearer t0k"] : []);
    await new Promise((done) => server.close(done));
  }
});

test("only safe targets", () => {
  for (const target of ["http://floodmark.firm.example", "hook.sock", "", "https://", "https://a:b@firm.example", "https://firm.example/?x"]) {
    assert.throws(() => new Monitor(target), TypeError);
  }
  assert.throws(() => new Monitor("/run/hook.sock", { token: "t" }), TypeError);
});
