-- A change is a backfill if its field had no value in the feed before, and if many deals of the feed get one in the same commit: the
-- source now fills a field that it left empty until then. The first value of a rare field is news of its deal.
INSERT INTO _dealflow.field_change
WITH first AS (
  SELECT c.service, c.market, c.kind, c.table_name, c.field, c.known_at, count(DISTINCT c.deal_id) AS deals
  FROM found_change c
  JOIN _dealflow.field_seen s
    ON s.market = c.market AND s.table_name = c.table_name AND s.field = coalesce(c.field, '') AND s.first_known_at = c.known_at
  WHERE c.change IN ('set', 'row added')
  GROUP BY ALL
  HAVING deals > 1
), backfill AS (
  SELECT table_name, market, field, known_at
  FROM first f
  WHERE deals >= 20 OR deals * 2 >= (
    SELECT count(*) FROM _dealflow.version_index v
    WHERE v.service = f.service AND v.market = f.market AND v.kind = f.kind AND v.change <> 'removed'
      AND v.valid_from <= f.known_at AND (v.valid_to IS NULL OR v.valid_to > f.known_at))
)
SELECT c.*, CASE WHEN c.table_name IS NULL THEN 'other'
                 WHEN c.change IN ('set', 'row added') AND b.table_name IS NOT NULL THEN 'backfill' ELSE 'edit' END
FROM found_change c
LEFT JOIN backfill b
  ON b.market = c.market AND b.table_name = c.table_name AND b.field IS NOT DISTINCT FROM c.field AND b.known_at = c.known_at
ORDER BY c.known_at, c.service, c.market, c.kind, c.deal_id, c.version, c.table_name, c.row_key, c.field;
DROP TABLE found_change;
