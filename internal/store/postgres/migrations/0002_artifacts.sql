-- What sessions left behind: one word for each key and session, as the rules
-- encoded it.
CREATE TABLE artifacts (
    tenant  bytea  NOT NULL,
    key     bytea  NOT NULL CHECK (octet_length(key) = 32),
    session bytea  NOT NULL,
    seq     bigint NOT NULL CHECK (seq > 0),
    body    bytea  NOT NULL,
    PRIMARY KEY (tenant, key, session)
);
