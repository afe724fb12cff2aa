-- needs: 4
-- Facts lie in one table for each month in which their sessions began, below
-- facts by inheritance: who reads facts reads all of them. What was there before,
-- and what an older program writes, lies in facts itself. A table goes as a whole
-- when no session lives in it any more. Why not PARTITION BY: docs/decisions/0002.

-- A birth tells in which month's table the facts of a session lie: 202611, or 0
-- for facts itself. A session has one at a time. It ends with the tombstone that
-- hides all its facts; a session that goes on behind it is born anew.
CREATE TABLE births (
    tenant  bytea NOT NULL,
    session bytea NOT NULL,
    month   int   NOT NULL,
    PRIMARY KEY (tenant, session)
);
CREATE INDEX births_month ON births USING brin (month); -- they come in the order of months
ALTER TABLE births ENABLE ROW LEVEL SECURITY;
ALTER TABLE births FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON births FOR SELECT USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])
    OR (SELECT current_setting('floodmark.tenants', true)) = '*');
CREATE POLICY writes ON births FOR INSERT WITH CHECK ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
CREATE POLICY ends ON births FOR DELETE USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));

CREATE FUNCTION births_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM FROM tombstones t WHERE t.tenant = OLD.tenant AND t.session = OLD.session;
        IF FOUND THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'floodmark: where a session lies is never changed, and ends only with a tombstone' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER births_stay BEFORE UPDATE OR DELETE ON births FOR EACH ROW EXECUTE FUNCTION births_stay();
CREATE TRIGGER births_stay_whole BEFORE TRUNCATE ON births FOR EACH STATEMENT EXECUTE FUNCTION births_stay();

-- month is where the facts lie that a tombstone hides.
ALTER TABLE tombstones ADD COLUMN month int NOT NULL DEFAULT 0;
CREATE INDEX tombstones_due ON tombstones (tenant, session) WHERE NOT swept AND (why <> 'retention' OR month = 0);
CREATE INDEX tombstones_lie ON tombstones (month, at) WHERE NOT swept;

CREATE FUNCTION stone_lies() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    NEW.month := coalesce((SELECT b.month FROM births b WHERE b.tenant = NEW.tenant AND b.session = NEW.session), 0);
    RETURN NEW;
END
$$;
CREATE TRIGGER stone_lies BEFORE INSERT OR UPDATE OF seq ON tombstones FOR EACH ROW EXECUTE FUNCTION stone_lies();

-- Whoever buries holds the barrier, so nobody is appending to where it lay.
CREATE FUNCTION stone_ends() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM births b WHERE b.tenant = NEW.tenant AND b.session = NEW.session;
    DELETE FROM snapshots s WHERE s.tenant = NEW.tenant AND s.session = NEW.session AND s.seq <= NEW.seq;
    RETURN NULL;
END
$$;
CREATE TRIGGER stone_ends AFTER INSERT OR UPDATE OF seq ON tombstones FOR EACH ROW EXECUTE FUNCTION stone_ends();

-- What is written to facts itself goes where its session lies: an older program
-- knows no months. Of two who begin a session the key of births lets one through.
CREATE FUNCTION facts_go_home() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    home int;
BEGIN
    SELECT b.month INTO home FROM births b WHERE b.tenant = NEW.tenant AND b.session = NEW.session;
    IF NOT FOUND THEN
        INSERT INTO births (tenant, session, month) VALUES (NEW.tenant, NEW.session, 0) ON CONFLICT DO NOTHING;
        SELECT b.month INTO home FROM births b WHERE b.tenant = NEW.tenant AND b.session = NEW.session;
    END IF;
    IF home = 0 THEN
        RETURN NEW;
    END IF;
    EXECUTE pg_catalog.format('INSERT INTO %I SELECT ($1).*', 'facts_' || home) USING NEW;
    RETURN NULL;
END
$$;
CREATE TRIGGER facts_go_home BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION facts_go_home();

-- grant_months gives those who have rights on facts the same on its months.
CREATE FUNCTION grant_months() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    command text;
BEGIN
    FOR command IN SELECT pg_catalog.format('GRANT %s ON %s TO %s', a.privilege_type, i.inhrelid::regclass, a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        JOIN pg_catalog.pg_inherits i ON i.inhparent = c.oid
        WHERE c.oid = 'facts'::regclass AND a.grantee NOT IN (0, c.relowner) LOOP
        EXECUTE command;
    END LOOP;
END
$$;

-- month_of is the month of an instant, as tables are called.
CREATE FUNCTION month_of(instant timestamptz) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.to_char(instant AT TIME ZONE 'UTC', 'YYYYMM')::int
$$;

-- make_months makes the tables of this month and the next, guarded as facts is.
-- Anybody who may write may call it: there is nothing to choose.
CREATE FUNCTION make_months() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '1s' AS $$
DECLARE
    name text;
    guard record;
    made boolean := false;
BEGIN
    FOREACH name IN ARRAY ARRAY['facts_' || month_of(now()), 'facts_' || month_of(now() + interval '1 month')] LOOP
        CONTINUE WHEN pg_catalog.to_regclass(name) IS NOT NULL;
        PERFORM pg_catalog.pg_advisory_xact_lock('facts'::regclass::oid::int, 6);
        PERFORM FROM pg_catalog.pg_class c WHERE c.relname = name AND c.relnamespace = current_schema()::regnamespace;
        CONTINUE WHEN FOUND;
        EXECUTE pg_catalog.format('CREATE TABLE %I (PRIMARY KEY (tenant, session, seq)) INHERITS (facts)', name);
        EXECUTE pg_catalog.format('CREATE INDEX %I ON %I (tenant, id)', name || '_written', name);
        EXECUTE pg_catalog.format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE pg_catalog.format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        FOR guard IN SELECT * FROM pg_catalog.pg_policies p WHERE p.schemaname = current_schema() AND p.tablename = 'facts' LOOP
            EXECUTE pg_catalog.format('CREATE POLICY %I ON %I FOR %s', guard.policyname, name, guard.cmd)
                || coalesce(' USING (' || guard.qual || ')', '') || coalesce(' WITH CHECK (' || guard.with_check || ')', '');
        END LOOP;
        EXECUTE pg_catalog.format('CREATE TRIGGER facts_stay BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION facts_stay()', name);
        EXECUTE pg_catalog.format('CREATE TRIGGER facts_stay_whole BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION facts_stay()', name);
        made := true;
    END LOOP;
    IF made THEN
        PERFORM grant_months();
    END IF;
END
$$;

-- drop_month drops a month's table if no session lives in it and a tombstone
-- stands for each that did; else it tells by false that some live on. Only months
-- go in which nobody is born any more, by any clock that is less than a month slow.
CREATE FUNCTION drop_month(month int) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET floodmark.tenants = '*' SET lock_timeout = '1s' SET enable_bitmapscan = on AS $$
#variable_conflict use_variable
DECLARE
    name text := 'facts_' || month;
    alive boolean;
BEGIN
    PERFORM FROM pg_catalog.pg_inherits i WHERE i.inhparent = 'facts'::regclass AND i.inhrelid = pg_catalog.to_regclass(name);
    IF NOT FOUND OR month >= month_of(now() - interval '31 days') THEN
        RAISE EXCEPTION 'floodmark: month % is not there, or not over for long enough', month USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM FROM births b WHERE b.month = drop_month.month LIMIT 1;
    IF FOUND THEN
        RETURN false;
    END IF;
    EXECUTE pg_catalog.format('WITH RECURSIVE s AS (
            (SELECT tenant, session, seq FROM %1$I ORDER BY tenant DESC, session DESC, seq DESC LIMIT 1)
            UNION ALL
            SELECT n.* FROM s CROSS JOIN LATERAL (SELECT f.tenant, f.session, f.seq FROM %1$I f
                WHERE (f.tenant, f.session) < (s.tenant, s.session) ORDER BY f.tenant DESC, f.session DESC, f.seq DESC LIMIT 1) n
        ) SELECT EXISTS (SELECT FROM s WHERE NOT EXISTS (SELECT FROM tombstones t
            WHERE t.tenant = s.tenant AND t.session = s.session AND t.seq >= s.seq))', name) INTO alive;
    IF alive THEN
        RAISE EXCEPTION 'floodmark: month % has facts for which no tombstone stands', month
            USING ERRCODE = 'insufficient_privilege', HINT = 'Run: floodmark journal verify';
    END IF;
    EXECUTE pg_catalog.format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name);
    PERFORM FROM births b WHERE b.month = drop_month.month LIMIT 1;
    IF FOUND THEN
        RETURN false;
    END IF;
    EXECUTE pg_catalog.format('DROP TABLE %I', name);
    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION births_stay(), stone_lies(), stone_ends(), facts_go_home(), grant_months(), month_of(timestamptz), make_months(), drop_month(int) FROM PUBLIC;

-- Who may add facts and erase may do so with months: as roles.sql says, for roles
-- that were made before.
DO $do$
DECLARE
    command text;
BEGIN
    FOR command IN SELECT pg_catalog.format(CASE a.privilege_type
            WHEN 'INSERT' THEN 'GRANT SELECT, INSERT ON births TO %1$s; GRANT EXECUTE ON FUNCTION month_of(timestamptz), make_months() TO %1$s'
            ELSE 'GRANT SELECT ON births TO %1$s; GRANT EXECUTE ON FUNCTION month_of(timestamptz) TO %1$s' END, a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'facts'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type IN ('SELECT', 'INSERT')
        UNION ALL
        SELECT pg_catalog.format('GRANT EXECUTE ON FUNCTION make_months(), drop_month(int) TO %s', a.grantee::regrole)
        FROM pg_catalog.pg_proc p CROSS JOIN LATERAL pg_catalog.aclexplode(p.proacl) a
        WHERE p.oid = 'sweep(bytea, bytea, bigint)'::regprocedure AND a.grantee NOT IN (0, p.proowner) LOOP
        EXECUTE command;
    END LOOP;
END
$do$;
