-- From version to version: what changed in the priced deal with the most edits, and from which instant (known_at) we know.
WITH most_edited AS (
  SELECT service, market, deal_id
  FROM field_change
  WHERE kind = 'priced' AND change_kind = 'edit'
  GROUP BY ALL
  ORDER BY count(DISTINCT version) DESC, count(*) DESC, service, market, deal_id
  LIMIT 1
)
SELECT service, market, deal_id, version, known_at, table_name, row_key, coalesce(field, change) AS what, was, "is"
FROM field_change
SEMI JOIN most_edited USING (service, market, deal_id)
WHERE kind = 'priced'
ORDER BY version, table_name, row_key, field
