-- Tranches that have not priced, by the time for which the lake has known their deal.
SELECT service, market,
       CASE WHEN days_listed IS NULL THEN 4 WHEN days_listed <= 2 THEN 0 WHEN days_listed <= 7 THEN 1
            WHEN days_listed <= 30 THEN 2 ELSE 3 END AS age,
       count(*) AS tranches
FROM pipeline_as_of(getvariable('as_of'))
WHERE NOT is_priced AND tranche_uid IS NOT NULL
GROUP BY service, market, age
ORDER BY service, market, age
