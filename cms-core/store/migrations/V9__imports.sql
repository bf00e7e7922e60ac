-- Content folders whose import a server has begun and not finished, each with the row of `object`
-- that was the last one at that time: the import itself created those of its objects that are later.
CREATE TABLE unfinished_import (
    folder TEXT PRIMARY KEY,
    after INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
