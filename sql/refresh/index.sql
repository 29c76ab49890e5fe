-- What a catalog holds itself, as of its commit.
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
), beginnings AS ( -- of feeds: the first commit that read them whole
  SELECT f.service, f.market, f.kind, min(r.known_at) AS known_at
  FROM main.feed_runs f
  JOIN main.runs r USING (run_id)
  WHERE f.outcome = 'done'
  GROUP BY f.service, f.market, f.kind
)
SELECT v.*, coalesce(v.first_known_at <= b.known_at, false) AS left_censored
FROM versions v
LEFT JOIN beginnings b USING (service, market, kind)
ORDER BY service, market, kind, deal_id, version;
