-- The tables and views besides those of deals and their lists, with the rows of the tables that were known at the instant.
WITH counted AS (
  SELECT 'runs' AS name, count(*) AS "rows" FROM runs WHERE known_at <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'feed_runs', count(*) FROM feed_runs f JOIN runs r ON r.run_id = f.run_id WHERE r.known_at <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'checks', count(*) FROM checks c JOIN runs r ON r.run_id = c.run_id WHERE r.known_at <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'deals', count(*) FROM deals_as_of($as_of::TIMESTAMPTZ)
  UNION ALL
  SELECT 'field_change', count(*) FROM field_change($as_of::TIMESTAMPTZ)
  UNION ALL
  SELECT 'history.deal_versions', count(*) FROM history.deal_versions WHERE valid_from <= $as_of::TIMESTAMPTZ
)
SELECT name, c."rows", t.comment
FROM (
  SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END AS name, table_comment AS comment
  FROM information_schema.tables
  WHERE table_catalog = current_database() AND (table_schema = 'main' OR table_schema = 'history')
    AND table_name NOT IN ({{range $i, $t := .Tables}}{{if $i}}, {{end}}{{lit $t.Name}}{{end}})
) t
LEFT JOIN counted c USING (name)
ORDER BY name
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
