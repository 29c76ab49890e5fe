-- The tables that the catalog holds itself: which commit it shows, the version index, and the runs.
-- Everything else are views over the lake's files.
CREATE SCHEMA _dealflow;
CREATE SCHEMA snapshots;
CREATE SCHEMA history;

-- The files are named in one place: what else reads them goes through these views.
CREATE VIEW _dealflow.history_deal_versions AS FROM {{.Versions}};

CREATE TABLE _dealflow.catalog AS
SELECT {{.Catalog.Commit}}::BIGINT AS "commit", {{lit .Catalog.Known.String}}::TIMESTAMPTZ AS known_at, {{lit .Catalog.Root}} AS root;

-- Every version of every deal with the interval in which it held: [valid_from, valid_to), open where
-- valid_to is NULL.
CREATE TABLE _dealflow.version_index AS
SELECT service, market, kind, deal_id, version, change, reason,
       known_at AS valid_from,
       lead(known_at) OVER deal AS valid_to,
       first_value(known_at) OVER deal AS first_known_at,
       run_id
FROM {{.Index}}
WINDOW deal AS (PARTITION BY service, market, kind, deal_id ORDER BY version)
ORDER BY service, market, kind, deal_id, version;

CREATE VIEW history.deal_versions AS
SELECT f.*, v.valid_from, v.valid_to
FROM _dealflow.history_deal_versions f
JOIN _dealflow.version_index v USING (service, market, kind, deal_id, version);
COMMENT ON VIEW history.deal_versions IS 'Every version of every deal of every feed, with its payload.';
{{- range .Columns}}
COMMENT ON COLUMN history.deal_versions.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
COMMENT ON COLUMN history.deal_versions.valid_from IS 'The version held from this instant on: the known_at of its commit.';
COMMENT ON COLUMN history.deal_versions.valid_to IS 'The version held until just before this instant; NULL: it still does.';

CREATE TABLE runs ({{range $i, $c := .Runs}}{{if $i}}, {{end}}{{ident $c.Name}} {{$c.Type.SQL}}{{end}});
COMMENT ON TABLE runs IS 'One row per run that committed.';
{{- range .Runs}}
COMMENT ON COLUMN runs.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
CREATE TABLE feed_runs ({{range $i, $c := .FeedRuns}}{{if $i}}, {{end}}{{ident $c.Name}} {{$c.Type.SQL}}{{end}});
COMMENT ON TABLE feed_runs IS 'One row per feed of a run.';
{{- range .FeedRuns}}
COMMENT ON COLUMN feed_runs.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
