-- The order of writing goes over several databases, so it follows the clock: the
-- microseconds since 2020, then twelve bits that tell apart what happened in the
-- same one. The sequence is the floor below which nothing is written any more;
-- it takes over where a clock goes back. Until 2091 there are bits enough.
ALTER TABLE facts ALTER COLUMN id SET DEFAULT greatest(nextval('written'),
    ((date_part('epoch', clock_timestamp()) * 1000000)::bigint - 1577836800000000) * 4096 + (currval('written') & 4095));
ALTER TABLE tombstones ALTER COLUMN id SET DEFAULT greatest(nextval('written'),
    ((date_part('epoch', clock_timestamp()) * 1000000)::bigint - 1577836800000000) * 4096 + (currval('written') & 4095));

-- Which shards this database holds, of which fleet. There is one row.
CREATE TABLE placement (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    fleet   text NOT NULL,
    first   int  NOT NULL CHECK (first >= 0),
    last    int  NOT NULL CHECK (last >= first AND last < 4096)
);

-- What became of batches that were written to several databases. Whoever comes
-- first decides: the one who writes the batch, or the one who finds it waiting.
CREATE TABLE decisions (
    batch     text PRIMARY KEY,
    committed boolean NOT NULL,
    at        timestamptz NOT NULL DEFAULT now()
);
