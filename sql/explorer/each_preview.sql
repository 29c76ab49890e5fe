-- Rows of {{.Name}} as it was known at the instant.
SELECT *
FROM {{ident (printf "%s_as_of" .Name)}}($as_of)
ORDER BY market, deal_id DESC
{{- if eq .Depth 1}}, ordinal{{else if eq .Depth 2}}, tranche_ordinal, ordinal{{end}}
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
