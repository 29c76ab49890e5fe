-- How bonds priced against first talk, and how they were covered, over all bonds, by market.
SELECT market, deals, tightening_bp_n, tightening_bp_median, cover_n, cover_median, nip_bp_n, nip_bp_median, window_minutes_n, window_minutes_median
FROM execution_summary(getvariable('as_of'))
JOIN markets USING (market)
ORDER BY precedence
