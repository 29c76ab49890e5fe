-- The priced bond deal that was edited most: what changed from version to version, and when we knew.
WITH deal AS (
  SELECT market, deal_id
  FROM history.bond_priced_deals
  GROUP BY ALL
  ORDER BY count(*) DESC, market, deal_id
  LIMIT 1
), versions AS (
  SELECT market, deal_id, version, valid_from,
         COLUMNS(* EXCLUDE (market, deal_id, version, valid_from, valid_to, run_id))::VARCHAR
  FROM history.bond_priced_deals
  SEMI JOIN deal USING (market, deal_id)
), cells AS (
  FROM versions UNPIVOT INCLUDE NULLS (value FOR field IN (COLUMNS(* EXCLUDE (market, deal_id, version, valid_from))))
)
SELECT market, deal_id, version, valid_from AS known_at, field,
       lag(value) OVER one_field AS was, value AS "is"
FROM cells
WINDOW one_field AS (PARTITION BY field ORDER BY version)
QUALIFY version > 1 AND was IS DISTINCT FROM value
ORDER BY version, field
