-- Who may do what is said by grants (see roles.sql); what nobody may do is
-- refused here, and rows of other tenants are not seen at all.

-- Functions look for tables where we do now, and in pg_temp last: nobody can put
-- a table of their own in place of ours.

-- The tenants this connection acts for: a list of «x» with the name in hex, in
-- the setting floodmark.tenants. Where nothing is set, there are none.
CREATE FUNCTION tenants() RETURNS bytea[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(pg_catalog.decode(pg_catalog.substr(part, 2), 'hex'))
    FROM pg_catalog.unnest(pg_catalog.string_to_array(pg_catalog.current_setting('floodmark.tenants', true), ',')) AS part
    WHERE pg_catalog.starts_with(part, 'x')
$$;

-- all_tenants is true for a connection that looks at all of them, to sign heads
-- and to verify. It may read only.
CREATE FUNCTION all_tenants() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.current_setting('floodmark.tenants', true) = '*'
$$;

ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON facts FOR SELECT USING (tenant = ANY ((SELECT tenants())::bytea[]) OR (SELECT all_tenants()));
CREATE POLICY writes ON facts FOR INSERT WITH CHECK (tenant = ANY ((SELECT tenants())::bytea[]));
CREATE POLICY deletes ON facts FOR DELETE USING (tenant = ANY ((SELECT tenants())::bytea[]));

ALTER TABLE snapshots ENABLE ROW LEVEL SECURITY;
ALTER TABLE snapshots FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON snapshots USING (tenant = ANY ((SELECT tenants())::bytea[]));

ALTER TABLE contents ENABLE ROW LEVEL SECURITY;
ALTER TABLE contents FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON contents USING (tenant = ANY ((SELECT tenants())::bytea[]));

ALTER TABLE artifacts ENABLE ROW LEVEL SECURITY;
ALTER TABLE artifacts FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON artifacts USING (tenant = ANY ((SELECT tenants())::bytea[]));

ALTER TABLE tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON tombstones FOR SELECT USING (tenant = ANY ((SELECT tenants())::bytea[]) OR (SELECT all_tenants()));
CREATE POLICY writes ON tombstones FOR INSERT WITH CHECK (tenant = ANY ((SELECT tenants())::bytea[]));
CREATE POLICY moves ON tombstones FOR UPDATE USING (tenant = ANY ((SELECT tenants())::bytea[]));

-- A fact never changes. It goes only where a tombstone stands for it.
CREATE FUNCTION facts_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM FROM tombstones t WHERE t.tenant = OLD.tenant AND t.session = OLD.session AND t.seq >= OLD.seq;
        IF FOUND THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'floodmark: facts are never changed, and deleted only behind a tombstone'
        USING ERRCODE = 'insufficient_privilege', HINT = 'To erase a session run: floodmark journal forget SESSION';
END
$$;
CREATE TRIGGER facts_stay BEFORE UPDATE OR DELETE ON facts FOR EACH ROW EXECUTE FUNCTION facts_stay();
CREATE TRIGGER facts_stay_whole BEFORE TRUNCATE ON facts FOR EACH STATEMENT EXECUTE FUNCTION facts_stay();

-- Tombstones stay for ever: they are what a chain goes on from.
CREATE FUNCTION tombstones_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'floodmark: tombstones are never deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER tombstones_stay BEFORE DELETE OR TRUNCATE ON tombstones FOR EACH STATEMENT EXECUTE FUNCTION tombstones_stay();

-- sweep deletes what a tombstone hides, for those who may erase and not delete.
CREATE FUNCTION sweep(of_tenant bytea, of_session bytea, up_to bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DELETE FROM facts WHERE tenant = of_tenant AND session = of_session AND seq <= up_to;
    DELETE FROM snapshots WHERE tenant = of_tenant AND session = of_session AND seq <= up_to
        AND EXISTS (SELECT FROM tombstones t WHERE t.tenant = of_tenant AND t.session = of_session AND t.seq >= up_to);
    UPDATE tombstones SET swept = true WHERE tenant = of_tenant AND session = of_session AND seq = up_to;
$$;

-- reach raises the floor of the order, for those who may not set the sequence
-- back.
CREATE FUNCTION reach(at_least bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT pg_catalog.setval('written', greatest(at_least, (SELECT last_value FROM written),
        ((pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint - 1577836800000000) * 4096 + 4095))
$$;

-- shard_of tells which shard a session is in, as programs do. Moving shards to
-- another database needs it.
CREATE FUNCTION shard_of(tenant bytea, session bytea) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (pg_catalog.get_byte(h, 0) << 4) + (pg_catalog.get_byte(h, 1) >> 4)
    FROM pg_catalog.sha256(pg_catalog.int4send(17) || 'floodmark journal'::bytea
        || pg_catalog.int4send(pg_catalog.octet_length(tenant)) || tenant
        || pg_catalog.int4send(pg_catalog.octet_length(session)) || session) AS h
$$;

REVOKE ALL ON FUNCTION shard_of(bytea, bytea), sweep(bytea, bytea, bigint), reach(bigint), tenants(), all_tenants(), facts_stay(), tombstones_stay() FROM PUBLIC;
