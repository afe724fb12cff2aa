-- needs: 4
-- Laptops that joined the fleet, and a copy of their facts. Nobody is judged by
-- the copy. Its entries lie as the laptop sealed them, under its own sessions.

CREATE TABLE machines (
    tenant      bytea  NOT NULL,
    id          text   NOT NULL UNIQUE,
    name        text   NOT NULL,
    enrolled_by text   NOT NULL,
    at          bigint NOT NULL,
    token       bytea  NOT NULL CHECK (octet_length(token) = 32), -- its hash
    journal_key text   NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- A machine ends once: it left, or was revoked.
CREATE TABLE machine_ends (
    tenant   bytea  NOT NULL,
    id       text   NOT NULL,
    state    text   NOT NULL CHECK (state IN ('left', 'revoked')),
    ended_by text   NOT NULL,
    at       bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- What a machine last told of itself.
CREATE TABLE machine_reports (
    tenant bytea  NOT NULL,
    id     text   NOT NULL,
    seen   bigint NOT NULL,
    report bytea  NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- What a machine sent in place of what is kept.
CREATE TABLE machine_forks (
    tenant  bytea  NOT NULL,
    id      text   NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL,
    at      bigint NOT NULL,
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (tenant, id, session, seq)
);

-- The copy. What an entry follows is the hash of the one before it; an entry of
-- the kind tombstone stands for itself and for what is missing before it.
CREATE TABLE mirror (
    tenant  bytea  NOT NULL,
    machine text   NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL CHECK (seq > 0),
    at      bigint NOT NULL,
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    kind    text   NOT NULL,
    body    bytea  NOT NULL,
    PRIMARY KEY (tenant, machine, session, seq)
);

-- Where the copy of each session ends, and how many entries it has.
CREATE TABLE mirror_heads (
    tenant  bytea  NOT NULL,
    machine text   NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL CHECK (seq > 0),
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    entries bigint NOT NULL,
    PRIMARY KEY (tenant, machine, session)
);

-- What was written stays.
CREATE FUNCTION machines_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'floodmark: what machines sent is never changed or deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;
REVOKE ALL ON FUNCTION machines_stay() FROM PUBLIC;

DO $do$
DECLARE
    name text;
    ours constant text := $p$'x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])$p$;
    every constant text := $p$(SELECT current_setting('floodmark.tenants', true)) = '*'$p$;
BEGIN
    FOREACH name IN ARRAY ARRAY['machines', 'machine_ends', 'machine_reports', 'machine_forks', 'mirror', 'mirror_heads'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY writes ON %I FOR INSERT WITH CHECK (%s)', name, ours);
        IF name IN ('machines', 'machine_ends') THEN -- a token is looked for before its tenant is known
            EXECUTE format('CREATE POLICY reads ON %I FOR SELECT USING (%s OR %s)', name, ours, every);
        ELSE
            EXECUTE format('CREATE POLICY reads ON %I FOR SELECT USING (%s)', name, ours);
        END IF;
        IF name IN ('machine_reports', 'mirror_heads') THEN
            EXECUTE format('CREATE POLICY moves ON %I FOR UPDATE USING (%s)', name, ours);
            EXECUTE format('CREATE TRIGGER stays BEFORE DELETE ON %I FOR EACH ROW EXECUTE FUNCTION machines_stay()', name);
        ELSE
            EXECUTE format('CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION machines_stay()', name);
        END IF;
        EXECUTE format('CREATE TRIGGER stays_whole BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION machines_stay()', name);
    END LOOP;
END
$do$;
