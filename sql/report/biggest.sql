-- The largest tranches that have not priced. Volumes are converted to USD at the median rate of bonds in the same
-- currency that priced in the year before the last observation.
WITH tranches AS (
  SELECT *, coalesce(volume_amount, (volume_lo + volume_hi) / 2, volume_lo, volume_hi)::DOUBLE AS amount
  FROM pipeline_as_of(getvariable('as_of'))
  WHERE NOT is_priced AND tranche_uid IS NOT NULL
), rates AS (
  SELECT currency, median((nominal_usd / nominal_amount)::DOUBLE) AS usd
  FROM bond_priced_deals_as_of(getvariable('as_of'))
  WHERE nominal_usd > 0 AND nominal_amount > 0
    AND pricing_date > utc_day(knowledge_at(getvariable('as_of'))) - 365
  GROUP BY currency
), comparable AS (
  SELECT t.service, t.market, t.deal_id, coalesce(t.borrower_name, '') AS borrower, coalesce(t.tranche_name, '') AS tranche,
         coalesce(t.status, '') AS status, coalesce(t.volume, '') AS volume, t.amount * r.usd AS usd, t.tranche_uid
  FROM tranches t
  JOIN rates r ON r.currency = t.volume_currency
  WHERE t.amount > 0
)
SELECT * EXCLUDE (tranche_uid), (SELECT count(*) FROM comparable) AS comparable, (SELECT count(*) FROM tranches) AS tranches
FROM comparable
ORDER BY usd DESC, service, market, deal_id, tranche_uid
LIMIT 10
