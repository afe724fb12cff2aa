-- needs: 4
-- Rules of tenants that their authors signed, and who is to have them. Where
-- there are several databases, these lie in the first.
CREATE TABLE bundles (
    tenant  bytea  NOT NULL,
    version bigint NOT NULL CHECK (version BETWEEN 1 AND 100000),
    sealed  bytea  NOT NULL CHECK (octet_length(sealed) <= 1048576),
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, version)
);
CREATE TABLE rollouts (
    tenant bytea  NOT NULL,
    serial bigint NOT NULL CHECK (serial > 0),
    body   bytea  NOT NULL CHECK (octet_length(body) <= 65536),
    at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, serial)
);

ALTER TABLE bundles ENABLE ROW LEVEL SECURITY;
ALTER TABLE bundles FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON bundles FOR SELECT USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
CREATE POLICY writes ON bundles FOR INSERT WITH CHECK ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));

ALTER TABLE rollouts ENABLE ROW LEVEL SECURITY;
ALTER TABLE rollouts FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON rollouts FOR SELECT USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
CREATE POLICY writes ON rollouts FOR INSERT WITH CHECK ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));

-- What was published stays, the next number follows the last, and the floor of
-- rollouts never sinks.
CREATE FUNCTION bundles_stay() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'floodmark: bundles and rollouts are never changed or deleted' USING ERRCODE = 'insufficient_privilege',
        HINT = 'To take a version back run: floodmark bundle rollback';
END
$$;
CREATE TRIGGER bundles_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON bundles FOR EACH STATEMENT EXECUTE FUNCTION bundles_stay();
CREATE TRIGGER rollouts_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON rollouts FOR EACH STATEMENT EXECUTE FUNCTION bundles_stay();

CREATE FUNCTION bundles_follow() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    last bigint;
    this bigint;
BEGIN
    IF TG_TABLE_NAME = 'bundles' THEN
        this := NEW.version;
        SELECT coalesce(max(version), 0) INTO last FROM bundles WHERE tenant = NEW.tenant;
    ELSE
        this := NEW.serial;
        SELECT coalesce(max(serial), 0) INTO last FROM rollouts WHERE tenant = NEW.tenant;
        PERFORM FROM rollouts WHERE tenant = NEW.tenant AND serial = last
            AND coalesce((convert_from(body, 'UTF8')::jsonb ->> 'floor')::bigint, 0) > coalesce((convert_from(NEW.body, 'UTF8')::jsonb ->> 'floor')::bigint, 0);
        IF FOUND THEN
            RAISE EXCEPTION 'floodmark: the floor of rollouts never sinks' USING ERRCODE = 'insufficient_privilege';
        END IF;
    END IF;
    IF this <> last + 1 THEN
        RAISE EXCEPTION 'floodmark: number % does not follow %', this, last USING ERRCODE = 'unique_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER bundles_follow BEFORE INSERT ON bundles FOR EACH ROW EXECUTE FUNCTION bundles_follow();
CREATE TRIGGER rollouts_follow BEFORE INSERT ON rollouts FOR EACH ROW EXECUTE FUNCTION bundles_follow();

REVOKE ALL ON FUNCTION bundles_stay(), bundles_follow() FROM PUBLIC;
