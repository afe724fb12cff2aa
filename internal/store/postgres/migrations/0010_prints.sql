-- needs: 4
-- Which keys the nodes of a fleet have, by fingerprints that tell nothing about
-- them. id is what people call the key, where they do. The first node writes them
-- down; only the owner of the tables takes one back.
CREATE TABLE prints (
    name  text  PRIMARY KEY CHECK (octet_length(name) <= 300),
    id    text  NOT NULL CHECK (octet_length(id) <= 64),
    print bytea NOT NULL CHECK (octet_length(print) = 32),
    at    timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION prints_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'floodmark: a fingerprint is never changed: delete it, and the next node writes down its own' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER prints_stay BEFORE UPDATE ON prints FOR EACH STATEMENT EXECUTE FUNCTION prints_stay();
REVOKE ALL ON FUNCTION prints_stay() FROM PUBLIC;

-- As roles.sql says, for roles that were made before.
DO $do$
DECLARE
    command text;
BEGIN
    FOR command IN SELECT pg_catalog.format('GRANT SELECT, INSERT ON prints TO %s', a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'facts'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'INSERT' LOOP
        EXECUTE command;
    END LOOP;
END
$do$;
