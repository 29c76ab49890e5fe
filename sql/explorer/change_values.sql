-- What differs in the versions of that list: the first columns and rows of each, without the time of the change.
{{template "_changed.sql"}}, page AS (
  SELECT service, market, kind, deal_id, version, known_at
  FROM found
  ORDER BY known_at DESC, service, market, kind, deal_id, version
  LIMIT $rows::BIGINT OFFSET $skip::BIGINT
)
SELECT p.service, p.market, p.kind, p.deal_id, p.version, c.table_name, c.row_key, c.field, c.change, left(c.was, 4000) AS was, left(c."is", 4000) AS "is",
       count(*) OVER (PARTITION BY p.service, p.market, p.kind, p.deal_id, p.version) AS differences
FROM page p
JOIN field_change($as_of) c ON c.service = p.service AND c.market = p.market AND c.kind = p.kind AND c.deal_id = p.deal_id AND c.version = p.version
WHERE c.table_name IS NOT NULL AND coalesce(c.field, '') <> 'changed'
QUALIFY row_number() OVER (PARTITION BY p.service, p.market, p.kind, p.deal_id, p.version ORDER BY c.field IS NULL, c.table_name, c.row_key, c.field) <= 12
ORDER BY p.known_at DESC, p.service, p.market, p.kind, p.deal_id, p.version, c.field IS NULL, c.table_name, c.row_key NULLS FIRST, c.field
