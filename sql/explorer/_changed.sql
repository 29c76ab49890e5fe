WITH found AS (
  SELECT service, market, kind, deal_id, version, change, reason, known_at, fields
  FROM changes($from::TIMESTAMPTZ, least($to::TIMESTAMPTZ, $as_of::TIMESTAMPTZ))
  WHERE ($service = '' OR service = $service) AND ($market = '' OR market = $market) AND ($kind = '' OR kind = $kind)
    AND ($change = '' OR change = $change) AND ($field = '' OR list_contains(fields, $field))
    AND ($quiet = '' OR change NOT IN ('changed') OR NOT (len(fields) > 0 AND len(list_filter(fields, lambda f: NOT ends_with(f, '.changed'))) = 0))
)
