-- needs: 4
-- reach raised the floor of the order as far as it was asked to. Whoever had the
-- writer's login could raise it to the last number there is, and nothing could be
-- written any more. A day is more than the clocks of two databases differ.
CREATE OR REPLACE FUNCTION reach(at_least bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    now_is constant bigint := ((pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint - 1577836800000000) * 4096 + 4095;
BEGIN
    IF at_least > now_is + 86400000000 * 4096 THEN
        RAISE EXCEPTION 'floodmark: the order is not raised by more than a day' USING ERRCODE = 'insufficient_privilege',
            HINT = 'The clock of another database, or of this one, is wrong.';
    END IF;
    RETURN pg_catalog.setval('written', greatest(at_least, (SELECT last_value FROM written), now_is));
END
$$;
