-- A change is a backfill if its field had no value in the feed before: the source now fills a field that it left empty until then. Other
-- changes of its version may be edits.
INSERT INTO _dealflow.field_change
SELECT c.*, CASE WHEN c.table_name IS NULL THEN 'other'
                 WHEN c.change IN ('set', 'row added') AND s.first_known_at = c.known_at THEN 'backfill' ELSE 'edit' END
FROM found_change c
LEFT JOIN _dealflow.field_seen s ON s.market = c.market AND s.table_name = c.table_name AND s.field = coalesce(c.field, '')
ORDER BY c.known_at, c.service, c.market, c.kind, c.deal_id, c.version, c.table_name, c.row_key, c.field;
DROP TABLE found_change;
