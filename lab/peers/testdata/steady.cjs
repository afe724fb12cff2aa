// Loaded before a server, so that two runs of it say the same: the clock of its
// texts stands still, what it draws by lot it draws in the same order, and what it
// repeats every few seconds it says once.
const crypto = require("node:crypto");
const at = Date.UTC(2026, 0, 2, 3, 4, 5);
const Clock = Date;
globalThis.Date = class Date extends Clock {
  constructor(...args) {
    if (args.length === 0) super(at);
    else super(...args);
  }
};
let drawn = 0;
Math.random = () => (drawn++ % 8) / 8;
let named = 0;
const uuid = () => "00000000-0000-4000-8000-" + String(++named).padStart(12, "0");
crypto.randomUUID = uuid;
const bytes = crypto.randomBytes;
crypto.randomBytes = (size, done) => {
  if (done) return bytes(size, done);
  const made = Buffer.alloc(size);
  made.writeUInt32BE(++named, Math.max(0, size - 4));
  return made;
};
require("node:module").syncBuiltinESMExports();
globalThis.crypto.randomUUID = uuid;
const every = setInterval;
globalThis.setInterval = (f, ms, ...args) => every(f, ms >= 5000 ? 1 << 30 : ms, ...args);
