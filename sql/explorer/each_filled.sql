-- How many rows of {{.Name}} had a value in each column at the instant.
UNPIVOT (
  SELECT {{range $i, $c := .ValueColumns}}{{if $i}}, {{end}}count({{ident $c.Name}}) AS {{ident $c.Name}}{{end}}
  FROM {{ident (printf "%s_as_of" .Name)}}($as_of)
) ON COLUMNS(*) INTO NAME column_name VALUE filled
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
