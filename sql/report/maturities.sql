-- What falls due, by year and market.
SELECT year, service, market, sum(lines)::BIGINT AS lines, sum(usd)::DOUBLE AS usd, sum(unconverted)::BIGINT AS unconverted
FROM maturity_wall(getvariable('as_of'))
JOIN markets USING (service, market)
GROUP BY year, service, market, precedence
ORDER BY year NULLS LAST, precedence
