-- backfills: At least 20 deals have a value in a field that no deal of their feed had before.
-- severity: warn
SELECT service || '/' || lower(market) || '/' || kind AS "where", count(DISTINCT deal_id) AS n,
       'now with ' || string_agg(DISTINCT table_name || coalesce('.' || field, ''), ', ' ORDER BY table_name || coalesce('.' || field, '')) AS detail
FROM _dealflow.field_change
WHERE known_at = (SELECT max(known_at) FROM runs) AND change_kind = 'backfill'
GROUP BY service, market, kind
HAVING n >= 20
ORDER BY ALL
