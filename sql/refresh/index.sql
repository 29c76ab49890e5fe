-- What a catalog holds itself, as of its commit.
DELETE FROM _dealflow.catalog;
INSERT INTO _dealflow.catalog
SELECT {{.Catalog.Commit}}, {{lit .Catalog.Known.String}}, {{lit .Catalog.Root}}, {{lit .Layout}}, {{lit .Catalog.Aliases.Version}};

CREATE OR REPLACE TABLE _dealflow.version_index AS
WITH versions AS (
  SELECT service, market, kind, deal_id, version, change, reason,
         known_at AS valid_from,
         lead(known_at) OVER deal AS valid_to,
         first_value(known_at) OVER deal AS first_known_at,
         run_id
  FROM {{.Index}}
  WINDOW deal AS (PARTITION BY service, market, kind, deal_id ORDER BY version)
)
SELECT *, first_known_at = min(first_known_at) OVER (PARTITION BY service, market, kind) AS left_censored
FROM versions
ORDER BY service, market, kind, deal_id, version;
