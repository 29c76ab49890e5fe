-- {{.Name}} of one version of a deal. {{.Doc}}
SELECT * EXCLUDE (valid_from, valid_to, run_id)
FROM history.{{ident .Name}}
WHERE valid_from <= $as_of::TIMESTAMPTZ AND market = $market AND deal_id = $deal_id::BIGINT AND version = $version::INTEGER
{{- if eq .Depth 1}}
ORDER BY ordinal
{{- else if eq .Depth 2}}
ORDER BY tranche_ordinal, ordinal
{{- end}}
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
