-- needs: 4
-- A tombstone stands at the end of its session. Whoever has the eraser's login could
-- set one before the last fact, or set one anew for a session that went on behind
-- it: with it went where the session lies, and so the facts behind it were read no
-- more. Who owns the tables is not held to this: moving shards copies tombstones.
CREATE FUNCTION stone_ends_session() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET floodmark.tenants = '*' AS $$
DECLARE
    last record;
BEGIN
    PERFORM FROM pg_catalog.pg_class c WHERE c.oid = TG_RELID AND pg_catalog.pg_has_role(session_user, c.relowner, 'MEMBER');
    IF FOUND THEN
        RETURN NEW;
    END IF;
    -- What was begun is seen from here on, and nothing more begins: not by an older
    -- picture of the tables, either.
    LOCK TABLE barrier IN ACCESS EXCLUSIVE MODE;
    IF pg_catalog.current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'floodmark: a tombstone is set with the isolation read committed' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'UPDATE' AND (NEW.tenant <> OLD.tenant OR NEW.session <> OLD.session) THEN
        RAISE EXCEPTION 'floodmark: a tombstone stays with its session' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT f.seq, f.hash INTO last FROM facts f WHERE f.tenant = NEW.tenant AND f.session = NEW.session
        AND f.seq > coalesce((SELECT t.seq FROM tombstones t WHERE t.tenant = NEW.tenant AND t.session = NEW.session), 0)
        ORDER BY f.seq DESC LIMIT 1;
    IF NOT FOUND THEN
        SELECT t.seq, t.hash INTO last FROM tombstones t WHERE t.tenant = NEW.tenant AND t.session = NEW.session;
    END IF;
    IF NOT FOUND OR last.seq <> NEW.seq OR last.hash <> NEW.hash THEN
        RAISE EXCEPTION 'floodmark: a tombstone stands at the end of its session and nowhere else'
            USING ERRCODE = 'insufficient_privilege', HINT = 'To erase a session run: floodmark journal forget SESSION';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER stone_ends_session BEFORE INSERT OR UPDATE OF tenant, session, seq, hash ON tombstones FOR EACH ROW EXECUTE FUNCTION stone_ends_session();
REVOKE ALL ON FUNCTION stone_ends_session() FROM PUBLIC;
