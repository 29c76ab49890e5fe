-- Bonds by market and month of pricing, as they were known at the variable as_of.
SELECT market, date_trunc('month', pricing_date) AS month, count(*) AS deals, sum(nominal_usd) AS usd
FROM {{ as_of('bond_priced_deals') }}
WHERE pricing_date IS NOT NULL
GROUP BY ALL
