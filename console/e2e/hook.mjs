// An agent of its own process: it tells the daemon what it is told to tell, loads pages, and runs
// commands. Whatever process speaks as an agent, and all that it starts, opens nothing in the console.
//
// With the argument «agent» it speaks through a process that it starts, as agents start hooks.
import { execFile, fork } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

/** tell sends one frame and gives the answer. */
async function tell(path, frame) {
  const socket = connect(path);
  const data = Buffer.from(JSON.stringify({ v: 1, ...frame }));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  socket.write(Buffer.concat([head, data]));
  let held = Buffer.alloc(0);
  for await (const part of socket) {
    held = Buffer.concat([held, part]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE()) {
      const got = JSON.parse(held.subarray(4, 4 + held.readUInt32BE()));
      if (!got.still) return (socket.destroy(), got);
      held = held.subarray(4 + held.readUInt32BE()); // a person is waited for
    }
  }
  throw new Error('the daemon went away');
}

/** run gives what a command prints, whether it went well or not. */
const run = (command, cwd, env) => new Promise((done) => execFile('/bin/bash', ['-c', command], { cwd, env: { ...process.env, ...env }, timeout: 120_000 }, (e, out, err) => done({ out: out + err, failed: e !== null })));

const speaker = process.argv[2] === 'agent' ? fork(fileURLToPath(import.meta.url)) : undefined;
speaker?.on('message', (m) => process.send(m));
process.on('disconnect', () => process.exit());

process.on('message', async (m) => {
  const { n, path, frame, url, command, cwd, env } = m;
  if (speaker && !command) return speaker.send(m);
  try {
    process.send({ n, got: command ? await run(command, cwd, env) : url ? (await fetch(url)).status : await tell(path, frame) });
  } catch (e) {
    process.send({ n, failed: String(e) });
  }
});
