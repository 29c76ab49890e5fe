-- The columns of a table or view that the search leaves, with what they mean.
SELECT column_name, data_type, comment
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = $schema AND table_name = $table AND schema_name IN ('main', 'history')
  AND ($q = '' OR contains(lower(concat_ws(' ', column_name, comment)), lower($q)))
ORDER BY column_index
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
