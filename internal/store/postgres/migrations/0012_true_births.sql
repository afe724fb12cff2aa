-- needs: 4
-- Where a session lies is not said otherwise than it is: what was there before
-- months were has no birth, and one in a month would hide it. Who begins a session
-- that another began there at the same moment is told so as by the key.
CREATE FUNCTION births_true() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.month <> 0 THEN
        PERFORM FROM ONLY facts f WHERE f.tenant = NEW.tenant AND f.session = NEW.session
            AND f.seq > coalesce((SELECT t.seq FROM tombstones t WHERE t.tenant = NEW.tenant AND t.session = NEW.session), 0) LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'floodmark: this session lies elsewhere' USING ERRCODE = 'unique_violation';
        END IF;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER births_true BEFORE INSERT ON births FOR EACH ROW EXECUTE FUNCTION births_true();
REVOKE ALL ON FUNCTION births_true() FROM PUBLIC;
