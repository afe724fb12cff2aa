-- Sessions by number, because the number is in every row of facts.
CREATE TABLE sessions (
  id      INTEGER PRIMARY KEY,
  tenant  TEXT NOT NULL,
  session TEXT NOT NULL,
  UNIQUE (tenant, session)
) STRICT;

-- Every entry, in the order of writing. The hash of the one before is the
-- hash in the row before. A row whose kind is NULL stands for what was
-- erased: the chain goes on behind it.
CREATE TABLE facts (
  mark INTEGER PRIMARY KEY,
  sid  INTEGER NOT NULL,
  seq  INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  hash BLOB NOT NULL,
  kind TEXT,
  body BLOB
) STRICT;
CREATE UNIQUE INDEX facts_of_session ON facts (sid, seq);

-- The newest snapshot of a session.
CREATE TABLE snapshots (
  sid   INTEGER PRIMARY KEY,
  seq   INTEGER NOT NULL,
  hash  BLOB NOT NULL,
  state BLOB NOT NULL
) STRICT;

CREATE TABLE contents (
  id       INTEGER PRIMARY KEY,
  tenant   TEXT NOT NULL,
  digest   BLOB NOT NULL,
  postings BLOB,
  UNIQUE (tenant, digest)
) STRICT;

CREATE TABLE tombstones (
  sid     INTEGER PRIMARY KEY,
  seq     INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  trust   TEXT NOT NULL,
  secrecy TEXT NOT NULL,
  at      INTEGER NOT NULL,
  why     TEXT NOT NULL,
  note    BLOB
) STRICT;

-- For whoever finds the file.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
INSERT INTO meta (name, value) VALUES ('format', 'floodmark journal');
