-- The deals of its market to which a deal was linked at the instant: what an expected deal priced as, increases of a line, and the other way round.
-- A removed deal keeps the links of its last content.
WITH newest AS (
  SELECT kind, deal_id, max(version) AS version
  FROM history.deal_versions
  WHERE service = $service AND market = $market AND valid_from <= $as_of::TIMESTAMPTZ AND change <> 'removed'
  GROUP BY ALL
), all_links AS (
  SELECT 'expected' AS kind, deal_id, version, 'priced' AS other_kind, priced_deal_id AS other_id, 'priced as' AS forth, 'announced as' AS back
  FROM history.bond_expected_tranches
  WHERE $service = 'bond' AND market = $market AND valid_from <= $as_of::TIMESTAMPTZ AND linked_market('bond', priced_deal_href) = market
  UNION
  SELECT 'expected', deal_id, version, 'priced', priced_deal_id, 'priced as', 'announced as'
  FROM history.loan_expected_deals
  WHERE $service = 'loan' AND market = $market AND valid_from <= $as_of::TIMESTAMPTZ AND linked_market('loan', priced_deal_href) = market
  UNION
  SELECT 'priced', deal_id, version, 'priced', original_deal_id, 'increase of', 'increased by'
  FROM history.bond_priced_deals
  WHERE $service = 'bond' AND market = $market AND valid_from <= $as_of::TIMESTAMPTZ AND original_deal_id <> deal_id
    AND linked_market('bond', original_href) = market
), links AS (
  SELECT l.* FROM all_links l JOIN newest n USING (kind, deal_id, version)
), near AS (
  SELECT forth AS relation, other_kind AS kind, other_id AS deal_id FROM links WHERE kind = $kind AND deal_id = $deal_id::BIGINT
  UNION
  SELECT back, kind, deal_id FROM links WHERE other_kind = $kind AND other_id = $deal_id::BIGINT
)
SELECT n.relation, n.kind, n.deal_id, k.deal_id IS NOT NULL AS is_known
FROM near n
LEFT JOIN newest k ON k.kind = n.kind AND k.deal_id = n.deal_id
ORDER BY n.relation DESC, n.kind, n.deal_id
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
