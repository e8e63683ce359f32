-- A migration is never edited once released, and what it leaves must be readable by the version before: during an
-- upgrade two processes share this file.
--
-- Values may be large, so this is a table with row ids and an index beside it, not WITHOUT ROWID.
CREATE TABLE records (
    kind    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    expires INTEGER,          -- milliseconds since 1970-01-01T00:00:00Z; NULL: never
    value   BLOB    NOT NULL,
    digest  BLOB    NOT NULL, -- SHA-256 over all of the above: SQLite itself does not notice a flipped bit
    PRIMARY KEY (kind, id)
) STRICT;

CREATE INDEX records_by_expiry ON records (expires) WHERE expires IS NOT NULL;
