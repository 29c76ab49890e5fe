-- The rows of {{.Name}} of the deals in changes_rows("from", "to"), as known at "to". A deal that was removed has none.
CREATE MACRO main.{{.Name}}_changes_rows("from", "to") AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_changed("from", "to")
)
SELECT {{range .Columns}}f.{{ident .Name}}, {{end}}v.valid_from AS known_at, r."commit"
FROM _dealflow.history_{{.Name}} f
JOIN _versions v
  ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
 AND v.market = f.market AND v.deal_id = f.deal_id AND v.version = f.version
JOIN main.runs r ON r.run_id = v.run_id;
COMMENT ON MACRO TABLE main.{{.Name}}_changes_rows IS {{lit (printf "%s Those of the deals that changed after \"from\" and not after \"to\", as known at \"to\"." .Doc)}};
