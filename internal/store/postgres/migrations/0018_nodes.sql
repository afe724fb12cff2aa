-- needs: 4
-- What the nodes of a fleet run by, as digests that tell nothing, so that they notice
-- where they differ. A node renews its row every some seconds, and rows that nobody
-- renews go. Nothing is judged by it.
CREATE TABLE nodes (
    id   text  PRIMARY KEY CHECK (octet_length(id) BETWEEN 1 AND 64),
    at   timestamptz NOT NULL DEFAULT now(),
    says bytea NOT NULL CHECK (octet_length(says) <= 4096)
);

-- As roles.sql says, for roles that were made before.
DO $do$
DECLARE
    command text;
BEGIN
    FOR command IN SELECT pg_catalog.format('GRANT SELECT, INSERT, UPDATE, DELETE ON nodes TO %s', a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'facts'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'INSERT' LOOP
        EXECUTE command;
    END LOOP;
END
$do$;
