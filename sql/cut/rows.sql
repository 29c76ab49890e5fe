-- Removes what became known after an instant.
-- The versions are written again: DuckDB keeps the statistics of a column in which an UPDATE leaves nothing but NULL, and then
-- finds no row that IS NULL.
CREATE OR REPLACE TABLE _dealflow.version_index AS
SELECT * REPLACE (CASE WHEN valid_to <= {{lit .Known}}::TIMESTAMPTZ THEN valid_to END AS valid_to)
FROM _dealflow.version_index
WHERE valid_from <= {{lit .Known}}::TIMESTAMPTZ;
DELETE FROM _dealflow.field_change WHERE known_at > {{lit .Known}}::TIMESTAMPTZ;
DELETE FROM _dealflow.tranche_lineage d WHERE NOT EXISTS (
  FROM _dealflow.version_index v
  WHERE v.service = d.service AND v.market = d.market AND v.kind = 'expected' AND v.deal_id = d.deal_id AND v.version = d.version);
DELETE FROM _dealflow.bank_count d WHERE NOT EXISTS (
  FROM _dealflow.version_index v
  WHERE v.service = d.service AND v.market = d.market AND v.kind = 'priced' AND v.deal_id = d.deal_id AND v.version = d.version);
DELETE FROM _dealflow.listing d WHERE NOT EXISTS (
  FROM _dealflow.version_index v
  WHERE v.service = d.service AND v.market = d.market AND v.kind = 'priced' AND v.deal_id = d.deal_id AND v.version = d.version);
UPDATE _dealflow.listing SET shared = false
WHERE shared AND (service, code) NOT IN (
  SELECT l.service, l.code FROM _dealflow.listing l GROUP BY l.service, l.code HAVING min(l.market) <> max(l.market));
-- These are for the next commit, and none is made from this catalog: the tranches as they were last seen, and since when a column
-- that has changed by now has had values.
DELETE FROM _dealflow.tranche_known;
DELETE FROM _dealflow.field_seen;
DELETE FROM _dealflow.checks WHERE "commit" IN (SELECT "commit" FROM _dealflow.runs WHERE known_at > {{lit .Known}}::TIMESTAMPTZ);
DELETE FROM _dealflow.feed_runs WHERE "commit" IN (SELECT "commit" FROM _dealflow.runs WHERE known_at > {{lit .Known}}::TIMESTAMPTZ);
DELETE FROM _dealflow.runs WHERE known_at > {{lit .Known}}::TIMESTAMPTZ;
UPDATE _dealflow.catalog SET "commit" = {{.Shown.Number}}, known_at = {{lit .Known}}::TIMESTAMPTZ, sha256 = nullif({{lit .Shown.SHA256}}, '')
