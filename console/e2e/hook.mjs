// An agent of its own process: it tells the daemon what it is told to tell, and loads pages.
// Whatever process speaks as an agent, and all that it starts, opens nothing in the console.
import { connect } from 'node:net';

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

process.on('message', async ({ n, path, frame, url }) => {
  try {
    process.send({ n, got: url ? (await fetch(url)).status : await tell(path, frame) });
  } catch (e) {
    process.send({ n, failed: String(e) });
  }
});
