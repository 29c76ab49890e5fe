-- The columns of a table or view, with what they mean.
SELECT column_name, data_type, comment
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = $schema AND table_name = $table AND schema_name IN ('main', 'history')
ORDER BY column_index
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
