-- The instant at which each market first had a value in these fields of {{.Name}}, or any row of it.
INSERT INTO _dealflow.field_seen
SELECT {{lit (printf "%s" .Service)}}, market, {{lit (printf "%s" .Kind)}}, {{lit .Name}}, seen.field, seen.first_known_at
FROM (
  SELECT f.market, unnest([
{{- range $i, $field := .Fields}}{{if $i}},{{end}}
    {field: {{lit $field}}, first_known_at: min(v.valid_from){{if $field}} FILTER (f.{{ident $field}} IS NOT NULL){{end}}}
{{- end}}]) AS seen
  FROM {{.History}} f
  JOIN _dealflow.version_index v
    ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
   AND v.market = f.market AND v.deal_id = f.deal_id AND v.version = f.version
  GROUP BY f.market
) new
WHERE seen.first_known_at IS NOT NULL
  AND NOT EXISTS (FROM _dealflow.field_seen old WHERE old.market = new.market AND old.table_name = {{lit .Name}} AND old.field = seen.field);
