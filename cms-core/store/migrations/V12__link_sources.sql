-- The type of the object with the link, or NULL for a link of an object to itself: objects without
-- incoming links are counted without reading the objects with the links.
ALTER TABLE link ADD COLUMN source_ctd INTEGER;
UPDATE link SET source_ctd = (
    SELECT iif(
        object.id = link.target_id
            AND object.ctd = (SELECT ctd.pk FROM ctd WHERE ctd.name = link.target_type),
        NULL, object.ctd)
    FROM object WHERE object.pk = link.object);
