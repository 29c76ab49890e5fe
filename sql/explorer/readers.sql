-- The macros whose definition names a column. That of a macro which another one calls is in the lake's own schema.
SELECT DISTINCT function_name AS name
FROM duckdb_functions()
WHERE database_name = current_database() AND (schema_name = 'main' OR starts_with(schema_name, 'lake_')) AND function_type = 'table_macro'
  AND regexp_matches(macro_definition, '\b' || $column || '\b')
ORDER BY name
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
