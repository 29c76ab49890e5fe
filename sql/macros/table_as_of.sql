-- {{.Name}} as it was known at the instant t (TIMESTAMPTZ); with since also the versions that were current at any instant from since on.
CREATE MACRO main.{{.Name}}_as_of(t, since := NULL) AS TABLE
SELECT {{range .Columns}}f.{{ident .Name}}, {{end}}v.valid_from AS known_at
FROM _dealflow.history_{{.Name}} f
JOIN _dealflow.version_index v
  ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
 AND v.market = f.market AND v.deal_id = f.deal_id AND v.version = f.version
WHERE v.valid_from <= t::TIMESTAMPTZ AND (v.valid_to IS NULL OR v.valid_to > least(since::TIMESTAMPTZ, t::TIMESTAMPTZ))
{{- if .IsByYear}}
  AND _dealflow.may_be_listed({{lit (printf "%s" .Service)}}, f.file_year, least(since::TIMESTAMPTZ, t::TIMESTAMPTZ), t){{end}};
COMMENT ON MACRO TABLE main.{{.Name}}_as_of IS {{lit (printf "%s As it was known at the instant t; with since := … also each version that was current at any instant from then on." .Doc)}};
