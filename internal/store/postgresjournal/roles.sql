-- The roles of a journal in schema $schema$. Run it as somebody who may make
-- roles, after the tables are there; running it again does no harm.
--
-- $owner$ owns the tables and changes them when a new version comes.
-- $writer$ is for the monitor: it adds facts and reads them, no more.
-- $eraser$ is for a monitor that also erases sessions, beside $writer$.
-- $reader$ reads facts.
DO $do$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[$'owner'$, $'writer'$, $'eraser'$, $'reader'$] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', name);
        END IF;
    END LOOP;
    IF NOT pg_catalog.current_setting('is_superuser')::boolean THEN
        EXECUTE format('GRANT %I TO %I', $'owner'$, current_user);
    END IF;
    FOR name IN SELECT format('ALTER %s %s OWNER TO %I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass, $'owner'$)
        FROM pg_catalog.pg_class c WHERE c.relnamespace = $'schema'$::regnamespace AND c.relkind IN ('r', 'p', 'S')
            AND pg_get_userbyid(c.relowner) <> $'owner'$ LOOP
        EXECUTE name;
    END LOOP;
    FOR name IN SELECT format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, $'owner'$)
        FROM pg_catalog.pg_proc p WHERE p.pronamespace = $'schema'$::regnamespace AND pg_get_userbyid(p.proowner) <> $'owner'$ LOOP
        EXECUTE name;
    END LOOP;
END
$do$;
ALTER SCHEMA $schema$ OWNER TO $owner$;
REVOKE ALL ON SCHEMA $schema$ FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA $schema$ FROM PUBLIC, $writer$, $eraser$, $reader$;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA $schema$ FROM PUBLIC, $writer$, $eraser$, $reader$;
GRANT USAGE ON SCHEMA $schema$ TO $writer$, $eraser$, $reader$;
GRANT SELECT ON $schema$.migrations, $schema$.placement TO $writer$, $eraser$, $reader$;
GRANT EXECUTE ON FUNCTION $schema$.tenants(), $schema$.all_tenants() TO $writer$, $eraser$, $reader$;

GRANT SELECT, INSERT ON $schema$.facts, $schema$.contents TO $writer$;
GRANT SELECT, INSERT, UPDATE ON $schema$.snapshots TO $writer$;
GRANT SELECT, INSERT, UPDATE, DELETE ON $schema$.artifacts TO $writer$;
GRANT SELECT, INSERT, DELETE ON $schema$.decisions TO $writer$;
GRANT SELECT ON $schema$.tombstones TO $writer$;
GRANT SELECT, INSERT ON $schema$.bundles, $schema$.rollouts TO $writer$;
GRANT SELECT, UPDATE ON $schema$.barrier TO $writer$, $eraser$; -- it is always empty: to lock it takes UPDATE
GRANT USAGE, SELECT ON SEQUENCE $schema$.written TO $writer$, $eraser$;
GRANT EXECUTE ON FUNCTION $schema$.reach(bigint) TO $writer$;

GRANT SELECT, INSERT ON $schema$.births, $schema$.prints TO $writer$;
GRANT SELECT, INSERT, UPDATE, DELETE ON $schema$.nodes TO $writer$;
GRANT EXECUTE ON FUNCTION $schema$.month_of(timestamptz), $schema$.make_months() TO $writer$, $eraser$;

GRANT SELECT ON $schema$.facts, $schema$.births TO $eraser$;
GRANT SELECT, INSERT, UPDATE ON $schema$.tombstones TO $eraser$;
GRANT EXECUTE ON FUNCTION $schema$.sweep(bytea, bytea, bigint), $schema$.drop_month(int) TO $eraser$;

GRANT SELECT ON $schema$.facts, $schema$.tombstones, $schema$.artifacts, $schema$.births TO $reader$;
GRANT EXECUTE ON FUNCTION $schema$.month_of(timestamptz) TO $reader$;

GRANT SELECT, INSERT ON $schema$.machines, $schema$.machine_ends, $schema$.machine_forks, $schema$.mirror TO $writer$;
GRANT SELECT, INSERT, UPDATE ON $schema$.machine_reports, $schema$.mirror_heads, $schema$.machine_asks, $schema$.token_uses TO $writer$;
GRANT SELECT, INSERT ON $schema$.machine_answers TO $writer$;
GRANT SELECT ON $schema$.machine_ends, $schema$.machine_reports, $schema$.machine_forks, $schema$.mirror, $schema$.mirror_heads, $schema$.mirror_stones TO $reader$;
GRANT SELECT ON $schema$.mirror_stones TO $writer$;
GRANT SELECT ON $schema$.mirror_heads, $schema$.mirror_stones TO $eraser$;
GRANT EXECUTE ON FUNCTION $schema$.bury_copy(bytea, text, bytea, bigint, bytea, bigint, bytea) TO $eraser$;

SELECT $schema$.grant_months();
