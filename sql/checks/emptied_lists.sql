-- emptied_lists: At least 50 priced deals, and a fifth of their feed's, lost all entries of a list in one commit.
-- severity: hold
WITH shortened AS (
  SELECT DISTINCT service, market, deal_id, table_name
  FROM _dealflow.field_change
  WHERE known_at = (SELECT max(known_at) FROM runs) AND kind = 'priced' AND change = 'row removed'
), left_over AS (
  SELECT market, deal_id, 'bond_priced_banks' AS table_name FROM brought_bond_priced_banks
  UNION ALL SELECT market, deal_id, 'bond_priced_price_evolution' FROM brought_bond_priced_price_evolution
  UNION ALL SELECT market, deal_id, 'bond_priced_investor_types' FROM brought_bond_priced_investor_types
  UNION ALL SELECT market, deal_id, 'bond_priced_geographies' FROM brought_bond_priced_geographies
  UNION ALL SELECT market, deal_id, 'loan_priced_sponsors' FROM brought_loan_priced_sponsors
  UNION ALL SELECT market, deal_id, 'loan_priced_deal_total_currencies' FROM brought_loan_priced_deal_total_currencies
  UNION ALL SELECT market, deal_id, 'loan_priced_tranches' FROM brought_loan_priced_tranches
  UNION ALL SELECT market, deal_id, 'loan_priced_tranche_banks' FROM brought_loan_priced_tranche_banks
), emptied AS (
  SELECT service, market, table_name, count(*) AS n, array_to_string(min(deal_id, 3), ', ') AS examples
  FROM shortened
  ANTI JOIN left_over USING (market, deal_id, table_name)
  GROUP BY ALL
  HAVING n >= 50
), standing AS (
  SELECT service, market, count(*) AS deals FROM deals WHERE kind = 'priced' GROUP BY ALL
)
SELECT service || '/' || lower(market) || '/priced' AS "where", n, table_name || ' of ' || deals || ' deals, such as ' || examples AS detail
FROM emptied JOIN standing USING (service, market)
WHERE n * 5 >= deals
ORDER BY ALL
