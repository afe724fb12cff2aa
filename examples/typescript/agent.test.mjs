// Runs the agent against a real daemon, and against none. FLOODMARK names the
// program, POLICY the policy of the examples.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

import { Denied, Monitor, Withheld } from "@floodmark/client";
import { agent, notes, page, task } from "./dist/agent.js";

const policy = process.env.POLICY ?? new URL("../policy.yaml", import.meta.url).pathname;

const answers = (at) =>
  new Promise((done) => {
    const conn = net.connect(at, () => (conn.destroy(), done(true)));
    conn.on("error", () => done(false));
  });

/** Starts a daemon and stops it when f is done. */
async function served(f) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "fm-"));
  const socket = path.join(dir, "run", "hook.sock");
  const daemon = spawn(process.env.FLOODMARK ?? "floodmark", ["serve", "--dir", dir, "--policy", policy], { stdio: "ignore" });
  const gone = new Promise((done) => daemon.on("exit", done));
  const kill = () => (daemon.kill("SIGKILL"), gone);
  try {
    for (let i = 0; !(await answers(socket)); i++) {
      assert.ok(i < 1000, "no daemon");
      await new Promise((done) => setTimeout(done, 20));
    }
    await f(new Monitor(socket, { timeout: 5000 }), kill);
  } finally {
    await kill();
    fs.rmSync(dir, { recursive: true });
  }
}

test("the injected page is stopped", () =>
  served(async (monitor) => {
    const outbox = [];
    const said = await agent(monitor, ({ to }) => (outbox.push(to), `sent to ${to}`));
    assert.deepEqual(outbox, ["anna@firm.example"]);
    assert.equal(said[0], `web_fetch: ${page}`);
    assert.equal(said[1], `read_notes: ${notes}`);
    assert.match(said[2], /^send_email: floodmark: web_fetch news\.example \(untrusted\), .* -> to "mallory@evil\.example"/);
    assert.equal(said[3], "send_email: sent to anna@firm.example");
    assert.match(said[4], /\n\n\(informed by 1 untrusted web page; blocked: send_email, see «floodmark why»\)$/);
  }));

test("without a daemon nothing runs", () =>
  served(async (monitor, kill) => {
    const outbox = [];
    const session = await monitor.start("helper");
    await session.said(task);
    const send = session.tool("send_email", ({ to }) => outbox.push(to));
    await kill();
    const began = Date.now();
    await assert.rejects(send({ to: "anna@firm.example", body: "hello" }), Denied);
    await assert.rejects(agent(monitor, ({ to }) => outbox.push(to)), Denied);
    assert.deepEqual(outbox, []);
    assert.ok(Date.now() - began < 2000);
  }));

test("a daemon that dies under a tool gets its result withheld", () =>
  served(async (monitor, kill) => {
    const session = await monitor.start("helper");
    await session.said(task);
    const fetchPage = session.tool("web_fetch", async () => (await kill(), page));
    await assert.rejects(fetchPage({ url: "https://news.example/today" }), Withheld);
  }));
