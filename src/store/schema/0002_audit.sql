-- Lines of logs that are only added to, for whoever looks for them with SQL: each line is a JSON object. What ties the lines
-- of a log together stands in the lines themselves, so there is no digest beside them.
CREATE TABLE audit (
    log    TEXT    NOT NULL, -- which log: the gateway's name and the beginning of its first line's hash
    number INTEGER NOT NULL CHECK (number > 0),
    at     INTEGER NOT NULL, -- milliseconds since 1970-01-01T00:00:00Z
    line   TEXT    NOT NULL,
    PRIMARY KEY (log, number)
) STRICT;
