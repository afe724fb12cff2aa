-- needs: 4
-- How many laptops a token to enrol has enrolled, at whatever node. Token is a hash
-- that tells nothing about it.
CREATE TABLE token_uses (
    tenant bytea  NOT NULL,
    token  bytea  NOT NULL CHECK (octet_length(token) = 32),
    uses   bigint NOT NULL CHECK (uses > 0),
    PRIMARY KEY (tenant, token)
);

-- It counts up, one by one.
CREATE FUNCTION uses_count() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.uses = 1 THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF NEW.tenant = OLD.tenant AND NEW.token = OLD.token AND NEW.uses = OLD.uses + 1 THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'floodmark: uses of a token are counted up, one by one' USING ERRCODE = 'insufficient_privilege';
END
$$;
REVOKE ALL ON FUNCTION uses_count() FROM PUBLIC;
CREATE TRIGGER counts BEFORE INSERT OR UPDATE OR DELETE ON token_uses FOR EACH ROW EXECUTE FUNCTION uses_count();
CREATE TRIGGER stays_whole BEFORE TRUNCATE ON token_uses FOR EACH STATEMENT EXECUTE FUNCTION machines_stay();

DO $do$
DECLARE
    command text;
    ours constant text := $p$'x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])$p$;
BEGIN
    ALTER TABLE token_uses ENABLE ROW LEVEL SECURITY;
    ALTER TABLE token_uses FORCE ROW LEVEL SECURITY;
    EXECUTE format('CREATE POLICY writes ON token_uses FOR INSERT WITH CHECK (%s)', ours);
    EXECUTE format('CREATE POLICY reads ON token_uses FOR SELECT USING (%s)', ours);
    EXECUTE format('CREATE POLICY moves ON token_uses FOR UPDATE USING (%s)', ours);
    -- As roles.sql says, for roles that were made before.
    FOR command IN SELECT pg_catalog.format('GRANT SELECT, INSERT, UPDATE ON token_uses TO %s', a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'machine_reports'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'INSERT' LOOP
        EXECUTE command;
    END LOOP;
END
$do$;
