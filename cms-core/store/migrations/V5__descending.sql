-- Equal times are in the order of creation in either direction, as in object_created and object_newest.
CREATE INDEX object_updated_desc ON object (ctd, updated_at DESC, created_at);
CREATE INDEX published_updated_desc ON published (ctd, updated_at DESC, created_at);
