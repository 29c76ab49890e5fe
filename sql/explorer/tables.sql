-- The number of rows that each table had at the instant.
{{range $i, $t := .Tables}}{{if $i}}
UNION ALL
{{end}}SELECT {{lit $t.Name}} AS table_name, count(*) AS "rows" FROM {{ident (printf "%s_as_of" $t.Name)}}($as_of)
{{- end}}
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
