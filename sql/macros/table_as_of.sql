-- {{.Name}} as it was known at the instant t (TIMESTAMPTZ); with since also the versions that were current at any instant from since on.
{{- if .IsByYear}} Only files
-- that can have such versions are opened.{{end}}
CREATE MACRO main.{{.Name}}_as_of(t, since := NULL) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(t, since)
){{if .IsByYear}}, _rows AS NOT MATERIALIZED (
  FROM _dealflow._history_{{.Name}}
  WHERE _dealflow.{{.Service}}_may_be_listed(_file_year, least(since::TIMESTAMPTZ, t::TIMESTAMPTZ), t)
){{end}}
SELECT {{$under := ""}}{{if .IsByYear}}{{$under = "_"}}{{end}}{{range .Columns}}f.{{ident (printf "%s%s" $under .Name)}} AS {{ident .Name}}, {{end}}v.valid_from AS known_at
FROM {{if .IsByYear}}_rows{{else}}_dealflow.history_{{.Name}}{{end}} f
JOIN _versions v
  ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
 AND v.market = f.{{$under}}market AND v.deal_id = f.{{$under}}deal_id AND v.version = f.{{$under}}version;
COMMENT ON MACRO TABLE main.{{.Name}}_as_of IS {{lit (printf "%s As it was known at the instant t; with since := … also each version that was current at any instant from then on." .Doc)}};
