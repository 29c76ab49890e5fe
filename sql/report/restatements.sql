-- How many priced deals were edited within thirty days of becoming known.
SELECT service, market, deals, restated, restated_pct, edits, median_lag_days, left_censored, too_young
FROM restatement_stats(30, getvariable('as_of'))
JOIN markets USING (service, market)
ORDER BY precedence
