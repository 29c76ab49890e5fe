-- How bonds reached their price, by sector, rating, month or another cut: the number of deals, the mean and the quartiles.
WITH deals AS (
  SELECT m.*, b.borrower_sector, b.borrower_country
  FROM execution_metrics($as_of) m
  JOIN bond_priced_deals_as_of($as_of) b ON b.market = m.market AND b.deal_id = m.deal_id
  WHERE ($market = '' OR m.market = $market) AND m.pricing_date BETWEEN $from_date::DATE AND $to_date::DATE
), measured AS (
  SELECT CASE $cut WHEN 'sector' THEN borrower_sector WHEN 'country' THEN borrower_country WHEN 'rating' THEN coalesce(rating, 'unread') WHEN 'market' THEN market
           WHEN 'currency' THEN currency WHEN 'first talk' THEN first_talk_stage WHEN 'month' THEN strftime(pricing_date, '%Y-%m')
           WHEN 'year' THEN strftime(pricing_date, '%Y') END AS cut,
         CASE $measure WHEN 'tightening' THEN tightening_bp WHEN 'cover' THEN cover WHEN 'premium' THEN nip_bp WHEN 'window' THEN window_minutes END AS measure
  FROM deals
), cuts AS (
  SELECT coalesce(cut, '(none)') AS cut, count(*) AS deals, count(measure) AS n, round(avg(measure), 3) AS mean, round(median(measure), 3) AS median,
         round(quantile_cont(measure, 0.25), 3) AS lower_quartile, round(quantile_cont(measure, 0.75), 3) AS upper_quartile
  FROM measured
  GROUP BY coalesce(cut, '(none)')
)
SELECT cut, deals, n, mean, median, lower_quartile, upper_quartile
FROM cuts
ORDER BY CASE WHEN $cut IN ('month', 'year') THEN cut END, n DESC, cut
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
