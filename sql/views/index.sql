-- The tables that the catalog contains itself: which commit it shows, the version index, the runs, and what is derived from
-- history. All other relations are views over the lake's files.
CREATE SCHEMA _dealflow;
CREATE SCHEMA snapshots;
CREATE SCHEMA history;
CREATE SCHEMA files;

-- Only these views name the lake's files, and each commit updates them. All other views read these. file_view stores
-- a hash of what each view reads, so that a commit replaces only the views whose files changed.
CREATE TABLE _dealflow.file_view (name VARCHAR, hash VARCHAR);
CREATE VIEW _dealflow.history_deal_versions AS FROM {{.Versions}};

CREATE TABLE _dealflow.catalog (
  "commit" BIGINT, known_at TIMESTAMPTZ, root VARCHAR, layout VARCHAR, alias_version VARCHAR, sha256 VARCHAR,
  lake_id VARCHAR);
CREATE VIEW main.catalog_info AS SELECT "commit", known_at, root, alias_version, sha256, lake_id FROM _dealflow.catalog;
COMMENT ON VIEW main.catalog_info IS 'One row: the lake and the commit that the catalog shows.';
COMMENT ON COLUMN main.catalog_info."commit" IS 'Number of the newest commit that it shows.';
COMMENT ON COLUMN main.catalog_info.known_at IS 'When that commit became known.';
COMMENT ON COLUMN main.catalog_info.root IS 'Folder or URL of the lake when the catalog was made. SET VARIABLE lake = … names another; see lake_help.';
COMMENT ON COLUMN main.catalog_info.alias_version IS 'Version of the aliases of banks and borrowers; empty if there are none.';
COMMENT ON COLUMN main.catalog_info.sha256 IS 'SHA-256 of the object of that commit, in hex.';
COMMENT ON COLUMN main.catalog_info.lake_id IS 'Identity of the lake, the same wherever it is stored: 12 hexadecimal digits.';

-- What a reader must set before the macros of attached catalogs can be called, and before a lake that was moved can be
-- read. It needs no file of the lake. The search path contains all attached catalogs of lakes, whatever their names.
CREATE VIEW main.lake_help AS
WITH attached AS (
  SELECT '"' || replace(database_name, '"', '""') || '"' AS name, schema_name FROM duckdb_schemas()
  WHERE regexp_full_match(schema_name, 'lake_[0-9a-f]{12}')
), path AS (
  SELECT '"' || current_database() || '"."' || current_schema() || '",' ||
         string_agg(name || '.main,' || name || '.' || schema_name, ',' ORDER BY name, schema_name) AS entries
  FROM attached
)
SELECT 'attach' AS topic,
       'Before you call macros of attached catalogs. Run it again after each ATTACH or USE.' AS when_needed,
       'SET search_path = ''' || replace(entries, '''', '''''') || '''' AS statement
FROM path
UNION ALL
SELECT 'moved lake', 'If files are not found: the lake was at ' || root || ' when the catalog was made. Name its folder or URL.',
       'SET VARIABLE lake_' || lake_id || ' = ''…'''
FROM _dealflow.catalog
UNION ALL
SELECT 'the only lake', 'The same, if no other lake is attached.', 'SET VARIABLE lake = ''…''';
COMMENT ON VIEW main.lake_help IS 'What to set for attached catalogs, and for a lake that was moved.';
COMMENT ON COLUMN main.lake_help.topic IS 'attach, moved lake, or the only lake.';
COMMENT ON COLUMN main.lake_help.when_needed IS 'When the statement is needed.';
COMMENT ON COLUMN main.lake_help.statement IS 'The statement to run.';

-- The tables that macros read are not in main, for DuckDB before 1.4.4: see package ownschema.
CREATE TABLE _dealflow.markets (service VARCHAR, market VARCHAR, precedence INTEGER);
INSERT INTO _dealflow.markets VALUES
{{- range $i, $m := .Markets}}{{if $i}},{{end}} ({{lit .Service}}, {{lit .Market}}, {{.Precedence}}){{end}};
CREATE VIEW main.markets AS FROM _dealflow.markets;
COMMENT ON VIEW main.markets IS 'The markets, in the order in which the API lists them.';
COMMENT ON COLUMN main.markets.service IS 'bond or loan.';
COMMENT ON COLUMN main.markets.market IS 'Code of the market; unique over both services.';
COMMENT ON COLUMN main.markets.precedence IS 'Place in that order, from 1. If several markets list one security, the first one keeps it.';

-- Every version of every deal with the interval in which it is current: [valid_from, valid_to). valid_to is NULL for
-- the current version. A deal of its feed's first commit is left-censored: its age is unknown.
CREATE TABLE _dealflow.version_index (
  service VARCHAR, market VARCHAR, kind VARCHAR, deal_id BIGINT, version INTEGER, change VARCHAR, reason VARCHAR,
  valid_from TIMESTAMPTZ, valid_to TIMESTAMPTZ, first_known_at TIMESTAMPTZ, run_id VARCHAR, left_censored BOOLEAN);

-- A macro's argument is put into it as written. So a name in an argument would mean a column or an alias of the macro that has the same name, and
-- not that of the query that asks: bond_priced_deals_as_of(known_at) would be as of each version's own instant. For that reason a parameter
-- is used only where all names that can be seen, those that SELECT gives included, begin with _: in a part of WITH that reads one thing, in the
-- first thing that FROM reads, or in a query of columns that were renamed for it, as here.
CREATE VIEW _dealflow._version AS
SELECT service AS _service, market AS _market, kind AS _kind, deal_id AS _deal_id, version AS _version, change AS _change, reason AS _reason,
       valid_from AS _valid_from, valid_to AS _valid_to, first_known_at AS _first_known_at, run_id AS _run_id, left_censored AS _left_censored
FROM _dealflow.version_index;

-- The versions that were known at the instant t; and those that were current then, with since at any instant from since to t.
CREATE MACRO _dealflow.known_versions(t) AS TABLE
SELECT _service AS service, _market AS market, _kind AS kind, _deal_id AS deal_id, _version AS version, _change AS change, _reason AS reason,
       _valid_from AS valid_from, _valid_to AS valid_to, _first_known_at AS first_known_at, _run_id AS run_id, _left_censored AS left_censored
FROM (FROM _dealflow._version WHERE _valid_from <= t::TIMESTAMPTZ);
CREATE MACRO _dealflow.versions_at(t, since := NULL) AS TABLE
SELECT _service AS service, _market AS market, _kind AS kind, _deal_id AS deal_id, _version AS version, _change AS change, _reason AS reason,
       _valid_from AS valid_from, _valid_to AS valid_to, _first_known_at AS first_known_at, _run_id AS run_id, _left_censored AS left_censored
FROM (FROM _dealflow._version
      WHERE _valid_from <= t::TIMESTAMPTZ AND (_valid_to IS NULL OR _valid_to > least(since::TIMESTAMPTZ, t::TIMESTAMPTZ)));

-- Of the deals that changed after "from" and not after "to", the versions that were current at "to".
CREATE MACRO _dealflow.versions_changed("from", "to") AS TABLE
SELECT _service AS service, _market AS market, _kind AS kind, _deal_id AS deal_id, _version AS version, _change AS change, _reason AS reason,
       _valid_from AS valid_from, _valid_to AS valid_to, _first_known_at AS first_known_at, _run_id AS run_id, _left_censored AS left_censored
FROM (FROM _dealflow._version
      WHERE _valid_from > "from"::TIMESTAMPTZ AND _valid_from <= "to"::TIMESTAMPTZ AND (_valid_to IS NULL OR _valid_to > "to"::TIMESTAMPTZ));

-- Whether a file of expected deals can have versions that were current between two instants; file_year is the year in which its run began.
-- Each commit writes them again, with constants (package byyear): DuckDB computes them when it plans a query, and opens no other file.
CREATE MACRO _dealflow.bond_may_be_listed(file_year, "from", "to") AS true;
CREATE MACRO _dealflow.loan_may_be_listed(file_year, "from", "to") AS true;

-- The identity of each tranche of an expected deal: tranche_uid is the same from version to version. Tranches are matched
-- by pricedDeal link, else figi, name and currency, name, (normal name, currency), position. Only earlier versions are used.
CREATE TABLE _dealflow.tranche_lineage (
  service VARCHAR, market VARCHAR, deal_id BIGINT, tranche_uid INTEGER, version INTEGER, ordinal INTEGER, matched_by VARCHAR);

-- The tranches of expected deals as they were when last seen. The deal's next version is compared with them.
CREATE TABLE _dealflow.tranche_known (
  service VARCHAR, market VARCHAR, deal_id BIGINT, tranche_uid INTEGER, version INTEGER, ordinal INTEGER,
  name VARCHAR, normal_name VARCHAR, currency VARCHAR, figi VARCHAR, priced_deal_id BIGINT);

-- The changes from each version of a deal to the next, in documented columns and child rows; and when each column of
-- a feed (NULL: a row of the table) was first seen.
CREATE TABLE _dealflow.field_change (
  service VARCHAR, market VARCHAR, kind VARCHAR, deal_id BIGINT, version INTEGER, known_at TIMESTAMPTZ,
  table_name VARCHAR, row_key VARCHAR, field VARCHAR, change VARCHAR, was VARCHAR, "is" VARCHAR, change_kind VARCHAR);
CREATE VIEW _dealflow._field_change AS SELECT COLUMNS('(.+)') AS '_\1' FROM _dealflow.field_change;
CREATE TABLE _dealflow.field_seen (
  service VARCHAR, market VARCHAR, kind VARCHAR, table_name VARCHAR, field VARCHAR, first_known_at TIMESTAMPTZ);

-- What analyses would otherwise compute from each row of history: the normal form of each spelling of a bank, a role, a
-- borrower or a loan's tranche; the numbers of banks of each version of a priced deal, and whether a name has two entries in it
-- (loans: in a tranche); and what identifies each security that a priced deal lists. shared: deals of several markets have
-- listed the code.
CREATE TABLE _dealflow.spelling (spelt VARCHAR, name VARCHAR);
CREATE TABLE _dealflow.bank_count (
  service VARCHAR, market VARCHAR, deal_id BIGINT, version INTEGER, banks BIGINT, lead_banks BIGINT, repeated BOOLEAN);
CREATE TABLE _dealflow.listing (
  service VARCHAR, market VARCHAR, deal_id BIGINT, version INTEGER, ordinal INTEGER,
  code VARCHAR, day DATE, kind VARCHAR, amount {{.Amount}}, shared BOOLEAN);

CREATE VIEW history.deal_versions AS
SELECT f.*, v.valid_from, v.valid_to
FROM _dealflow.history_deal_versions f
JOIN _dealflow.version_index v USING (service, market, kind, deal_id, version);
COMMENT ON VIEW history.deal_versions IS 'Every version of every deal of every feed, with its payload.';
{{- range .Columns}}
COMMENT ON COLUMN history.deal_versions.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
COMMENT ON COLUMN history.deal_versions.valid_from IS 'The version is current from this instant on: the known_at of its commit.';
COMMENT ON COLUMN history.deal_versions.valid_to IS 'The version is current until just before this instant; NULL if it still is.';

-- The files alone, without the join with the index. If a query names deals and versions, DuckDB skips the files and
-- row groups that cannot contain them.
CREATE VIEW files.deal_versions AS
SELECT {{range $i, $c := .Columns}}{{if $i}}, {{end}}{{ident $c.Name}}{{end}} FROM _dealflow.history_deal_versions;
COMMENT ON VIEW files.deal_versions IS 'Every version of every deal of every feed, with its payload, without its interval: as stored in the files.';
{{- range .Columns}}
COMMENT ON COLUMN files.deal_versions.{{ident .Name}} IS {{lit .Doc}};
{{- end}}

CREATE TABLE _dealflow.runs ({{range $i, $c := .Runs}}{{if $i}}, {{end}}{{ident $c.Name}} {{$c.Type.SQL}}{{end}});
CREATE VIEW runs AS FROM _dealflow.runs;
COMMENT ON VIEW runs IS 'One row per run that committed.';
{{- range .Runs}}
COMMENT ON COLUMN runs.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
-- There is a row for each feed of each sync, and for each check: after years, there may be millions. So these two tables have the number
-- of the commit in place of the run's id and instant, and instants in microseconds from that of the commit.
CREATE TABLE _dealflow.feed_runs ({{range $i, $c := .StoredFeedRuns}}{{if $i}}, {{end}}{{ident $c.Name}} {{$c.Type.SQL}}{{end}});
CREATE VIEW feed_runs AS
SELECT {{range $i, $c := .FeedRuns}}{{if $i}}, {{end}}
{{- if eq $c.Name "run_id"}}r.run_id
{{- else if eq $c.Name "feed"}}f.service || '/' || lower(f.market) || '/' || f.kind AS feed
{{- else if eq $c.Name "started_at"}}make_timestamptz(epoch_us(r.known_at) + f.started_us) AS started_at
{{- else if eq $c.Name "finished_at"}}make_timestamptz(epoch_us(r.known_at) + f.finished_us) AS finished_at
{{- else}}f.{{ident $c.Name}}{{end}}{{end}}
FROM _dealflow.feed_runs f JOIN _dealflow.runs r ON r."commit" = f."commit";
COMMENT ON VIEW feed_runs IS 'One row per feed of a run.';
{{- range .FeedRuns}}
COMMENT ON COLUMN feed_runs.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
CREATE TABLE _dealflow.checks ({{range $i, $c := .StoredChecks}}{{if $i}}, {{end}}{{ident $c.Name}} {{$c.Type.SQL}}{{end}});
CREATE VIEW checks AS
SELECT {{range $i, $c := .Checks}}{{if $i}}, {{end}}
{{- if or (eq $c.Name "run_id") (eq $c.Name "known_at")}}r{{else}}c{{end}}.{{ident $c.Name}}{{end}}
FROM _dealflow.checks c JOIN _dealflow.runs r ON r."commit" = c."commit";
COMMENT ON VIEW checks IS 'Results of the quality checks, one row per check and commit.';
{{- range .Checks}}
COMMENT ON COLUMN checks.{{ident .Name}} IS {{lit .Doc}};
{{- end}}
