-- How bonds priced against first talk, and how they were covered, by month over the 24 months up to the last observation.
SELECT strftime(pricing_date, '%Y-%m') AS month, market, count(*) AS deals,
       count(tightening_bp) AS tightening_n, median(tightening_bp)::DOUBLE AS tightening_bp,
       count(cover) AS cover_n, median(cover)::DOUBLE AS cover
FROM execution_metrics(getvariable('as_of'))
JOIN markets USING (market)
WHERE pricing_date BETWEEN date_trunc('month', utc_day(knowledge_at(getvariable('as_of')))) - INTERVAL 23 MONTHS
  AND utc_day(knowledge_at(getvariable('as_of')))
GROUP BY month, market, precedence
ORDER BY month, precedence
