-- Issuance in USD by month and market, over the 24 months up to the last observation.
SELECT strftime(period, '%Y-%m') AS month, service, market, sum(deals)::BIGINT AS deals, sum(deals_unconverted)::BIGINT AS unconverted,
       sum(usd)::DOUBLE AS usd
FROM issuance_volume('month', getvariable('as_of'))
JOIN markets USING (service, market)
WHERE period BETWEEN date_trunc('month', utc_day(knowledge_at(getvariable('as_of')))) - INTERVAL 23 MONTHS
  AND utc_day(knowledge_at(getvariable('as_of')))
GROUP BY period, service, market, precedence
ORDER BY period, precedence
