-- A new version is a backfill if none of its changed fields had a value in its feed before: the source now fills
-- fields that it left empty until then.
INSERT INTO _dealflow.field_change
SELECT c.*, CASE WHEN c.table_name IS NULL THEN 'other'
                 WHEN bool_and(coalesce(c.change IN ('set', 'row added') AND s.first_known_at = c.known_at, false)) OVER
                      (PARTITION BY c.service, c.market, c.kind, c.deal_id, c.version)
                 THEN 'backfill' ELSE 'edit' END
FROM found_change c
LEFT JOIN _dealflow.field_seen s ON s.market = c.market AND s.table_name = c.table_name AND s.field = coalesce(c.field, '')
ORDER BY c.known_at, c.service, c.market, c.kind, c.deal_id, c.version, c.table_name, c.row_key, c.field;
DROP TABLE found_change;
