-- How bonds priced against first talk, and how they were covered, over all bonds, by market and rating.
SELECT market, rating, deals, talk_n, only_final_talk, tightening_from_guidance_n, cover_flagged,
       tightening_bp_n, tightening_bp_median, cover_n, cover_median, nip_bp_n, nip_bp_median, window_minutes_n, window_minutes_median
FROM execution_summary(getvariable('as_of'))
JOIN markets USING (market)
ORDER BY precedence, list_position(['all', 'AAA', 'AA', 'A', 'BBB', 'BB', 'B', 'CCC', 'unrated', 'unread'], rating)
