-- A migration is never edited once released, and what it leaves must be readable by the version before: during an
-- upgrade, and for as long as several gateways share this database, both are at work.
--
-- The names begin with the program's, since the database may be shared with others'.
CREATE TABLE portcullis_records (
    kind    TEXT COLLATE "C" NOT NULL,
    id      BYTEA   NOT NULL, -- text has no NUL here, and the order of bytes depends on nobody's locale
    version BIGINT  NOT NULL CHECK (version > 0),
    expires BIGINT,           -- milliseconds since 1970-01-01T00:00:00Z; NULL: never
    value   BYTEA   NOT NULL,
    digest  BYTEA   NOT NULL, -- SHA-256 over all of the above: page checksums are off by default
    PRIMARY KEY (kind, id)
);

CREATE INDEX portcullis_records_by_expiry ON portcullis_records (expires) WHERE expires IS NOT NULL;
