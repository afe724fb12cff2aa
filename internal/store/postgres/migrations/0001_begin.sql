-- Names are bytes, because a session may be called anything, and because the
-- order of bytes does not change with the operating system's languages.

-- written is the order in which everything was written.
CREATE SEQUENCE written AS bigint;

-- A fact is one entry. What it follows is the hash of the one before it.
CREATE TABLE facts (
    tenant  bytea  NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL CHECK (seq > 0),
    at      bigint NOT NULL,
    id      bigint NOT NULL DEFAULT nextval('written'),
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    kind    text   NOT NULL,
    body    bytea  NOT NULL,
    PRIMARY KEY (tenant, session, seq)
);
CREATE INDEX facts_written ON facts (tenant, id);

-- A snapshot is the state after the entry (seq, hash).
CREATE TABLE snapshots (
    tenant  bytea  NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL,
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    body    bytea  NOT NULL,
    PRIMARY KEY (tenant, session)
);

-- A content is the index of what a digest stands for.
CREATE TABLE contents (
    tenant   bytea NOT NULL,
    digest   bytea NOT NULL CHECK (octet_length(digest) = 32),
    postings bytea NOT NULL,
    PRIMARY KEY (tenant, digest)
);

-- A tombstone hides every fact and snapshot up to its seq, also while they are
-- still being deleted.
CREATE TABLE tombstones (
    tenant  bytea  NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL CHECK (seq > 0),
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    trust   text   NOT NULL,
    secrecy text   NOT NULL,
    at      bigint NOT NULL,
    why     text   NOT NULL,
    note    bytea  NOT NULL,
    id      bigint NOT NULL DEFAULT nextval('written'),
    swept   boolean NOT NULL DEFAULT false, -- whether they are deleted
    PRIMARY KEY (tenant, session)
);
CREATE INDEX tombstones_written ON tombstones (id);
CREATE INDEX tombstones_unswept ON tombstones (tenant, session) WHERE NOT swept;

-- barrier is always empty. Whoever appends reads it, so whoever locks it knows
-- that nothing is being appended: all that was begun is visible or gone.
CREATE TABLE barrier (nothing boolean CHECK (false));
