-- {{.Name}}: {{.Doc}}
CREATE VIEW _dealflow.history_{{.Name}} AS FROM {{.History}};
CREATE VIEW _dealflow._history_{{.Name}} AS SELECT COLUMNS('(.+)') AS '_\1' FROM _dealflow.history_{{.Name}};
CREATE VIEW _dealflow.snapshots_{{.Name}} AS FROM {{.Snapshots}};
{{- if .Older}}
-- The rows of history in files of schema versions that lack the status of a text.
CREATE VIEW _dealflow.older_{{.Name}} AS FROM {{.Older}};
{{- end}}

CREATE VIEW files.{{.Name}} AS
SELECT {{range $i, $c := .Columns}}{{if $i}}, {{end}}{{ident $c.Name}}{{end}}
FROM _dealflow.history_{{.Name}};

CREATE VIEW history.{{.Name}} AS
SELECT {{range .Columns}}f.{{ident .Name}}, {{end}}v.valid_from, v.valid_to, v.run_id
FROM _dealflow.history_{{.Name}} f
JOIN _dealflow.version_index v
  ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
 AND v.market = f.market AND v.deal_id = f.deal_id AND v.version = f.version;

CREATE VIEW main.{{.Name}} AS
SELECT {{range .Columns}}f.{{ident .Name}}, {{end}}v.valid_from AS known_at
FROM _dealflow.history_{{.Name}} f
JOIN _dealflow.version_index v
  ON v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
 AND v.market = f.market AND v.deal_id = f.deal_id AND v.version = f.version
WHERE v.valid_to IS NULL;

CREATE VIEW snapshots.{{.Name}} AS
SELECT {{range $i, $c := .SnapshotColumns}}{{if $i}}, {{end}}{{ident $c.Name}}{{end}}
FROM _dealflow.snapshots_{{.Name}};

COMMENT ON VIEW main.{{.Name}} IS {{lit (printf "%s As of now." .Doc)}};
COMMENT ON VIEW history.{{.Name}} IS {{lit (printf "%s Every version, with the interval in which it is current." .Doc)}};
COMMENT ON VIEW files.{{.Name}} IS {{lit (printf "%s Every version, without its interval: as stored in the files." .Doc)}};
COMMENT ON VIEW snapshots.{{.Name}} IS {{lit (printf "%s The complete state of each day." .Doc)}};
{{- $t := .Name}}
{{- range .SnapshotColumns}}
{{- $doc := .Doc}}{{if .Unit}}{{$doc = printf "%s Unit: %s." .Doc .Unit}}{{end}}
COMMENT ON COLUMN snapshots.{{$t}}.{{ident .Name}} IS {{lit $doc}};
{{- end}}
{{- range .Columns}}
{{- $doc := .Doc}}{{if .Unit}}{{$doc = printf "%s Unit: %s." .Doc .Unit}}{{end}}
COMMENT ON COLUMN main.{{$t}}.{{ident .Name}} IS {{lit $doc}};
COMMENT ON COLUMN history.{{$t}}.{{ident .Name}} IS {{lit $doc}};
COMMENT ON COLUMN files.{{$t}}.{{ident .Name}} IS {{lit $doc}};
{{- end}}
COMMENT ON COLUMN main.{{.Name}}.known_at IS 'Instant at which the version became known: the known_at of its commit.';
COMMENT ON COLUMN history.{{.Name}}.valid_from IS 'The version is current from this instant on: the known_at of its commit.';
COMMENT ON COLUMN history.{{.Name}}.valid_to IS 'The version is current until just before this instant; NULL if it still is.';
COMMENT ON COLUMN history.{{.Name}}.run_id IS 'The run that added the version: a UUIDv7.';
