-- Rows of {{.Name}} as it was known at the instant.
SELECT *
FROM {{ident (printf "%s_as_of" .Name)}}($as_of)
ORDER BY market, deal_id DESC
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
