-- needs: 4
-- Copies of what laptops wrote go when retention says so, or an admin. A tombstone
-- that a node signed stands where they were. The head stays: the laptop goes on
-- behind it, and nothing is uploaded again.

-- moved is when the copy last grew, by the database's clock: nobody else's counts.
ALTER TABLE mirror_heads ADD COLUMN moved timestamptz NOT NULL DEFAULT now();
CREATE FUNCTION mirror_moves() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    NEW.moved := now();
    IF TG_OP = 'UPDATE' THEN
        IF NEW.seq = OLD.seq THEN
            NEW.moved := OLD.moved;
        END IF;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER mirror_moves BEFORE INSERT OR UPDATE ON mirror_heads FOR EACH ROW EXECUTE FUNCTION mirror_moves();

CREATE TABLE mirror_stones (
    tenant  bytea  NOT NULL,
    machine text   NOT NULL,
    session bytea  NOT NULL,
    seq     bigint NOT NULL CHECK (seq > 0),
    hash    bytea  NOT NULL CHECK (octet_length(hash) = 32),
    at      bigint NOT NULL,
    note    bytea  NOT NULL CHECK (octet_length(note) <= 65536),
    PRIMARY KEY (tenant, machine, session)
);

-- An entry never changes. It goes only where a tombstone stands for it.
CREATE FUNCTION mirror_stays() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM FROM mirror_stones s WHERE s.tenant = OLD.tenant AND s.machine = OLD.machine AND s.session = OLD.session AND s.seq >= OLD.seq;
        IF FOUND THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'floodmark: what machines sent is never changed, and deleted only behind a tombstone'
        USING ERRCODE = 'insufficient_privilege', HINT = 'To erase a copy run: floodmark journal forget laptop/MACHINE/SESSION';
END
$$;
DROP TRIGGER stays ON mirror;
CREATE TRIGGER stays BEFORE UPDATE OR DELETE ON mirror FOR EACH ROW EXECUTE FUNCTION mirror_stays();

-- bury_copy puts a tombstone where a copy ends, and deletes what it stands for. It
-- returns false, and does nothing, if the copy ends elsewhere by now.
CREATE FUNCTION bury_copy(of_tenant bytea, of_machine text, of_session bytea, up_to bigint, its_hash bytea, its_at bigint, its_note bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM FROM mirror_heads h WHERE h.tenant = of_tenant AND h.machine = of_machine AND h.session = of_session
        AND h.seq = up_to AND h.hash = its_hash FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mirror_stones AS old (tenant, machine, session, seq, hash, at, note)
    VALUES (of_tenant, of_machine, of_session, up_to, its_hash, its_at, its_note)
    ON CONFLICT (tenant, machine, session) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at, note = excluded.note
    WHERE old.seq < excluded.seq;
    DELETE FROM mirror m WHERE m.tenant = of_tenant AND m.machine = of_machine AND m.session = of_session AND m.seq <= up_to;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION mirror_moves(), mirror_stays(), bury_copy(bytea, text, bytea, bigint, bytea, bigint, bytea) FROM PUBLIC;

DO $do$
DECLARE
    command text;
    ours constant text := $p$'x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])$p$;
    every constant text := $p$(SELECT current_setting('floodmark.tenants', true)) = '*'$p$;
BEGIN
    ALTER TABLE mirror_stones ENABLE ROW LEVEL SECURITY;
    ALTER TABLE mirror_stones FORCE ROW LEVEL SECURITY;
    EXECUTE format('CREATE POLICY reads ON mirror_stones FOR SELECT USING (%s OR %s)', ours, every);
    EXECUTE format('CREATE POLICY writes ON mirror_stones FOR INSERT WITH CHECK (%s)', ours);
    EXECUTE format('CREATE POLICY moves ON mirror_stones FOR UPDATE USING (%s)', ours);
    CREATE TRIGGER stays BEFORE DELETE ON mirror_stones FOR EACH ROW EXECUTE FUNCTION machines_stay();
    CREATE TRIGGER stays_whole BEFORE TRUNCATE ON mirror_stones FOR EACH STATEMENT EXECUTE FUNCTION machines_stay();
    EXECUTE format('CREATE POLICY goes ON mirror FOR DELETE USING (%s)', ours);
    -- What is too old is looked for before its tenant is known.
    DROP POLICY reads ON mirror_heads;
    EXECUTE format('CREATE POLICY reads ON mirror_heads FOR SELECT USING (%s OR %s)', ours, every);
    -- As roles.sql says, for roles that were made before.
    FOR command IN SELECT pg_catalog.format('GRANT SELECT ON mirror_stones TO %s', a.grantee::regrole)
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'mirror'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'SELECT'
        UNION ALL
        SELECT pg_catalog.format('GRANT SELECT ON mirror_heads, mirror_stones TO %1$s;'
            ' GRANT EXECUTE ON FUNCTION bury_copy(bytea, text, bytea, bigint, bytea, bigint, bytea) TO %1$s', a.grantee::regrole)
        FROM pg_catalog.pg_proc p CROSS JOIN LATERAL pg_catalog.aclexplode(p.proacl) a
        WHERE p.oid = 'sweep(bytea, bytea, bigint)'::regprocedure AND a.grantee NOT IN (0, p.proowner) LOOP
        EXECUTE command;
    END LOOP;
END
$do$;
