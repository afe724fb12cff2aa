-- needs: 4
-- What laptops ask their group now, and what people of it answered. An answer is
-- for one question of one machine, and the first one stays.
CREATE TABLE machine_asks (
    tenant bytea  NOT NULL,
    id     text   NOT NULL,
    at     bigint NOT NULL,
    open   bytea  NOT NULL CHECK (octet_length(open) <= 262144),
    PRIMARY KEY (tenant, id)
);
CREATE TABLE machine_answers (
    tenant bytea  NOT NULL,
    id     text   NOT NULL,
    ticket text   NOT NULL,
    at     bigint NOT NULL,
    answer bytea  NOT NULL CHECK (octet_length(answer) <= 8192),
    PRIMARY KEY (tenant, id, ticket)
);
CREATE INDEX machine_answers_at ON machine_answers (tenant, id, at);

DO $do$
DECLARE
    name text;
    command text;
    ours constant text := $p$'x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])$p$;
BEGIN
    FOREACH name IN ARRAY ARRAY['machine_asks', 'machine_answers'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY writes ON %I FOR INSERT WITH CHECK (%s)', name, ours);
        EXECUTE format('CREATE POLICY reads ON %I FOR SELECT USING (%s)', name, ours);
        EXECUTE format('CREATE TRIGGER stays_whole BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION machines_stay()', name);
    END LOOP;
    EXECUTE format('CREATE POLICY moves ON machine_asks FOR UPDATE USING (%s)', ours);
    CREATE TRIGGER stays BEFORE DELETE ON machine_asks FOR EACH ROW EXECUTE FUNCTION machines_stay();
    CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON machine_answers FOR EACH ROW EXECUTE FUNCTION machines_stay();
    -- Who may write reports may write these: as roles.sql says, for roles that were
    -- made before.
    FOR command IN SELECT pg_catalog.format('GRANT SELECT, INSERT, UPDATE ON machine_asks TO %1$s; GRANT SELECT, INSERT ON machine_answers TO %1$s', a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'machine_reports'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'INSERT' LOOP
        EXECUTE command;
    END LOOP;
END
$do$;
