-- The names that a statement may use: tables with their columns, macros and functions with their parameters.
WITH words AS (
  SELECT list(keyword_name) AS taken FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')
), named AS (
  SELECT schema_name, table_name AS name, 'table' AS kind,
         list(CASE WHEN regexp_full_match(column_name, '[a-z_][a-z0-9_]*') AND NOT list_contains(taken, column_name) THEN column_name
                   ELSE '"' || replace(column_name, '"', '""') || '"' END ORDER BY column_index) AS parts
  FROM duckdb_columns(), words
  WHERE database_name = current_database() AND NOT internal AND schema_name IN ('main', 'history', 'snapshots')
  GROUP BY schema_name, table_name
  UNION ALL
  SELECT 'main', function_name, CASE function_type WHEN 'table_macro' THEN 'macro' ELSE 'function' END, parameters
  FROM duckdb_functions()
  WHERE database_name = current_database() AND NOT internal AND schema_name = 'main'
)
SELECT schema_name, name, kind, array_to_string(parts, chr(10)) AS parts
FROM named
ORDER BY kind DESC, schema_name = 'main' DESC, schema_name, name
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
