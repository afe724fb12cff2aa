-- needs: 4
-- The policies as expressions of built-in functions: a function in SQL costs more
-- than the insert it guards. Each list is read once a statement.
ALTER POLICY reads ON facts USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])
    OR (SELECT current_setting('floodmark.tenants', true)) = '*');
ALTER POLICY writes ON facts WITH CHECK ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
ALTER POLICY deletes ON facts USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
ALTER POLICY own ON snapshots USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
ALTER POLICY own ON contents USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
ALTER POLICY own ON artifacts USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
ALTER POLICY reads ON tombstones USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[])
    OR (SELECT current_setting('floodmark.tenants', true)) = '*');
ALTER POLICY writes ON tombstones WITH CHECK ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
ALTER POLICY moves ON tombstones USING ('x' || encode(tenant, 'hex') = ANY ((SELECT string_to_array(current_setting('floodmark.tenants', true), ','))::text[]));
