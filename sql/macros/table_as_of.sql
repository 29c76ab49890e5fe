{{if .IsByYear}}-- The versions in the files that can have some that were current at t, with since at any instant from since to t; and others of these files.
CREATE MACRO _dealflow.{{.Name}}_listed(t, since := NULL) AS TABLE
SELECT {{range $i, $c := .Columns}}{{if $i}}, {{end}}{{ident (printf "_%s" .Name)}} AS {{ident .Name}}{{end}}
FROM (FROM _dealflow._history_{{.Name}}
      WHERE _dealflow.{{.Service}}_may_be_listed(_file_year, least(since::TIMESTAMPTZ, t::TIMESTAMPTZ), t));

{{end}}-- {{.Name}} as it was known at the instant t (TIMESTAMPTZ); with since also the versions that were current at any instant from since on.
CREATE MACRO main.{{.Name}}_as_of(t, since := NULL) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(t, since)
){{if .IsByYear}}, _rows AS NOT MATERIALIZED (
  FROM _dealflow.{{.Name}}_listed(t, since)
){{end}}
SELECT {{range .Columns}}f.{{ident .Name}}, {{end}}v.valid_from AS known_at
FROM {{if .IsByYear}}_rows{{else}}_dealflow.history_{{.Name}}{{end}} f
JOIN _versions v
  ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
 AND v.market = f.market AND v.deal_id = f.deal_id AND v.version = f.version;
COMMENT ON MACRO TABLE main.{{.Name}}_as_of IS {{lit (printf "%s As it was known at the instant t; with since := … also each version that was current at any instant from then on." .Doc)}};
