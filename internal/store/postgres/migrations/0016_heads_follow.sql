-- needs: 4
-- Where the copy of a laptop's session ends is moved by what is added to it, in the
-- same statement, and by nothing else: whoever had the writer's login could say that
-- a copy ends elsewhere, put entries where something was erased, or put some ahead so
-- that the laptop's own found no place. Programs that say where it ends themselves
-- say what is so already. Who owns the tables is not held to this: copying them
-- takes each table by itself.
CREATE FUNCTION mirror_leads() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET floodmark.tenants = '' AS $$
DECLARE
    part record;
    head bigint;
BEGIN
    PERFORM FROM pg_catalog.pg_class c WHERE c.oid = TG_RELID AND pg_catalog.pg_has_role(session_user, c.relowner, 'MEMBER');
    IF FOUND THEN
        RETURN NULL;
    END IF;
    FOR part IN SELECT a.tenant, a.machine, a.session, count(*) AS n, min(a.seq) AS first, max(a.seq) AS last,
            count(*) FILTER (WHERE a.kind = 'tombstone') AS stones, min(a.seq) FILTER (WHERE a.kind = 'tombstone') AS stone
        FROM added a GROUP BY a.tenant, a.machine, a.session LOOP
        PERFORM pg_catalog.set_config('floodmark.tenants', 'x' || pg_catalog.encode(part.tenant, 'hex'), true);
        PERFORM FROM machines m WHERE m.tenant = part.tenant AND m.id = part.machine
            AND NOT EXISTS (SELECT FROM machine_ends e WHERE e.tenant = m.tenant AND e.id = m.id);
        IF NOT FOUND THEN
            RAISE EXCEPTION 'floodmark: there is no such machine, or it has ended' USING ERRCODE = 'insufficient_privilege';
        END IF;
        SELECT h.seq INTO head FROM mirror_heads h WHERE h.tenant = part.tenant AND h.machine = part.machine AND h.session = part.session FOR UPDATE;
        head := coalesce(head, 0);
        -- Without gaps; a tombstone stands first, for all that is missing before it.
        IF part.first <= head OR part.last - part.first + 1 <> part.n
            OR NOT (part.stones = 0 AND part.first = head + 1 OR part.stones = 1 AND part.stone = part.first) THEN
            RAISE EXCEPTION 'floodmark: a copy is added to at its end and nowhere else' USING ERRCODE = 'insufficient_privilege';
        END IF;
        INSERT INTO mirror_heads AS was (tenant, machine, session, seq, hash, entries)
            SELECT a.tenant, a.machine, a.session, a.seq, a.hash, part.n FROM added a
            WHERE a.tenant = part.tenant AND a.machine = part.machine AND a.session = part.session AND a.seq = part.last
            ON CONFLICT (tenant, machine, session) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, entries = was.entries + excluded.entries;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER leads AFTER INSERT ON mirror REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mirror_leads();

-- What mirror_leads does it does as the owner. Of others only what is so already is
-- taken, and changes nothing.
CREATE FUNCTION heads_follow() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM FROM pg_catalog.pg_class c WHERE c.oid = TG_RELID AND pg_catalog.pg_has_role(current_user, c.relowner, 'MEMBER');
    IF FOUND THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'INSERT' THEN
        PERFORM FROM mirror_heads h WHERE h.tenant = NEW.tenant AND h.machine = NEW.machine AND h.session = NEW.session AND h.seq = NEW.seq AND h.hash = NEW.hash;
        IF FOUND THEN
            RETURN NEW; -- the key refuses it, or an UPDATE that is looked at here
        END IF;
    ELSIF OLD.tenant = NEW.tenant AND OLD.machine = NEW.machine AND OLD.session = NEW.session AND OLD.seq = NEW.seq AND OLD.hash = NEW.hash THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'floodmark: where a copy ends follows from what is in it' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER follows BEFORE INSERT OR UPDATE ON mirror_heads FOR EACH ROW EXECUTE FUNCTION heads_follow();
REVOKE ALL ON FUNCTION mirror_leads(), heads_follow() FROM PUBLIC;
