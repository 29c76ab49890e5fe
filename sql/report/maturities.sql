-- What falls due, by year and market.
SELECT year, service, market, sum(lines)::BIGINT AS lines, sum(usd)::DOUBLE AS usd, sum(unconverted)::BIGINT AS unconverted
FROM maturity_wall(getvariable('as_of'))
GROUP BY year, service, market
ORDER BY year NULLS LAST, list_position(['IG', 'HY', 'EM', 'LL', 'CF', 'AF'], market)
