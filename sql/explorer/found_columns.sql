-- The columns of all tables that the search leaves, with what they mean and where they are in the record.
SELECT c->>'column' AS column_name, c->>'table' AS table_name, c->>'type' AS data_type, c->>'meaning' AS meaning, c->>'pointer' AS pointer
FROM (SELECT unnest(from_json($found::JSON, '["JSON"]')) AS c)
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
