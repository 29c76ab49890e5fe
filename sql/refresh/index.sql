-- Adds the versions that became known after the previous catalog{{if .Feed}}, of one feed{{end}}.
WITH found AS (
  SELECT service, market, kind, deal_id, version, change, reason, known_at, run_id
  FROM {{.Source}}
  WHERE known_at > {{lit .Since}}::TIMESTAMPTZ{{with .Feed}} AND service = {{lit (printf "%s" .Service)}} AND market = {{lit (printf "%s" .Market)}} AND kind = {{lit (printf "%s" .Kind)}}{{end}}
), before AS ( -- deals that have earlier versions
  SELECT service, market, kind, deal_id, min(first_known_at) AS first_known_at
  FROM _dealflow.version_index
  SEMI JOIN found USING (service, market, kind, deal_id)
  GROUP BY service, market, kind, deal_id
), versions AS (
  SELECT f.service, f.market, f.kind, f.deal_id, f.version, f.change, f.reason,
         f.known_at AS valid_from,
         lead(f.known_at) OVER deal AS valid_to,
         coalesce(b.first_known_at, first_value(f.known_at) OVER deal) AS first_known_at,
         f.run_id
  FROM found f
  LEFT JOIN before b USING (service, market, kind, deal_id)
  WINDOW deal AS (PARTITION BY f.service, f.market, f.kind, f.deal_id ORDER BY f.version)
), beginnings(service, market, kind, known_at) AS ( -- each feed's first commit after a complete reading
  {{range $i, $b := .Beginnings}}{{if $i}}, {{else}}VALUES {{end}}({{lit (printf "%s" .Feed.Service)}}, {{lit (printf "%s" .Feed.Market)}}, {{lit (printf "%s" .Feed.Kind)}}, {{lit .KnownAt.String}}::TIMESTAMPTZ){{else}}SELECT '', '', '', NULL::TIMESTAMPTZ{{end}}
)
SELECT v.*, coalesce(v.first_known_at <= b.known_at, false) AS left_censored
FROM versions v
LEFT JOIN beginnings b USING (service, market, kind)
ORDER BY service, market, kind, deal_id, version
