-- The tables and views besides those of deals and their lists.
SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END AS name, table_comment AS comment
FROM information_schema.tables
WHERE table_catalog = current_database() AND (table_schema = 'main' OR table_schema = 'history')
  AND table_name NOT IN ({{range $i, $t := .Tables}}{{if $i}}, {{end}}{{lit $t.Name}}{{end}})
ORDER BY name
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
