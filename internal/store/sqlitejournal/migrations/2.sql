-- What sessions left behind: one word for each key and session, as the rules
-- encoded it.
CREATE TABLE artifacts (
  tenant  TEXT NOT NULL,
  key     BLOB NOT NULL,
  session TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (tenant, key, session)
) STRICT, WITHOUT ROWID;
