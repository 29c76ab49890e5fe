{{template "_listed.sql" .}}
SELECT service, market, kind, deal_id, borrower, day, stage, headline, currency, amount,
       {{template "_said.sql" "volumes"}} AS volume, usd, {{template "_said.sql" "prices"}} AS price, sector, version,{{if eq . "removed"}} reason,{{end}} known_at,
       (SELECT count(*) FROM found) AS all_deals
FROM found
ORDER BY CASE $sort WHEN '-day' THEN day END DESC NULLS LAST, CASE $sort WHEN 'day' THEN day END NULLS LAST,
         CASE $sort WHEN '-usd' THEN usd END DESC NULLS LAST, CASE $sort WHEN 'usd' THEN usd END NULLS LAST,
         CASE $sort WHEN 'borrower' THEN lower(borrower) END NULLS LAST, CASE $sort WHEN '-known' THEN known_at END DESC,
         service, market, kind, deal_id
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
