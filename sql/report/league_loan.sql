-- The banks that led most in the twelve months up to the last observation.
SELECT rank, bank, credit_usd::DOUBLE AS usd, share, deals, total_usd::DOUBLE AS total_usd, deals_total, deals_unconverted
FROM league_table('LOAN',
  utc_day(knowledge_at(getvariable('as_of'))) - INTERVAL 1 YEAR + INTERVAL 1 DAY,
  utc_day(knowledge_at(getvariable('as_of'))), getvariable('as_of'))
WHERE rank <= 15 OR rank IS NULL
ORDER BY rank NULLS LAST
