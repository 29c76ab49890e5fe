-- As of now: the three newest bond deals of each market, with their price talk and their number of banks.
WITH talk AS (
  SELECT market, deal_id, string_agg(value, ' > ' ORDER BY ordinal) AS price_talk
  FROM bond_priced_price_evolution GROUP BY ALL
), banks AS (
  SELECT market, deal_id, count(DISTINCT name) AS banks
  FROM bond_priced_banks GROUP BY ALL
)
SELECT pricing_date, market, trim(borrower_name) AS borrower, currency,
       (nominal_amount / 1000000)::DECIMAL(12, 1) AS millions, banks, price_talk
FROM bond_priced_deals
LEFT JOIN talk USING (market, deal_id)
LEFT JOIN banks USING (market, deal_id)
QUALIFY row_number() OVER (PARTITION BY market ORDER BY pricing_date DESC, deal_id DESC) <= 3
ORDER BY market, pricing_date DESC, deal_id DESC
