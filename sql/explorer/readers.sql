-- The macros whose definition names a column.
SELECT DISTINCT function_name AS name
FROM duckdb_functions()
WHERE database_name = current_database() AND schema_name = 'main' AND function_type = 'table_macro'
  AND regexp_matches(macro_definition, '\b' || $column || '\b')
ORDER BY name
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
