{{$rows := "as_of($as_of)"}}{{if eq . "removed"}}{{$rows = "before" -}}
WITH removed AS (
  SELECT service, market, kind, deal_id, version, reason, known_at
  FROM history.deal_versions
  WHERE valid_from <= $as_of::TIMESTAMPTZ AND (valid_to IS NULL OR valid_to > $as_of::TIMESTAMPTZ) AND change = 'removed'
), {{/* the version before */ -}}
{{template "_before.sql" "bond_priced_deals"}}
{{template "_before.sql" "loan_priced_deals"}}
{{template "_before.sql" "loan_priced_tranches"}}
{{template "_before.sql" "bond_expected_deals"}}
{{template "_before.sql" "bond_expected_tranches"}}
{{template "_before.sql" "loan_expected_deals"}}
{{template "_before.sql" "loan_expected_tranches"}}
{{else}}WITH {{end -}}
loan_tranches AS (
  SELECT market, deal_id, {{template "_currencies.sql"}} AS currency, list({ordinal: ordinal, said: margin}) AS prices,
         bool_or(upper($q) IN (upper(figi_code), upper(bloomberg_code))) AS code,
         CASE WHEN bool_or(green_loan) AND bool_or(sustainability_linked) THEN 'multiple' WHEN bool_or(green_loan) THEN 'green'
              WHEN bool_or(sustainability_linked) THEN 'sustainability-linked' END AS esg
  FROM loan_priced_tranches_{{$rows}}
  GROUP BY market, deal_id
), expected_bond_tranches AS (
  SELECT market, deal_id, {{template "_currencies.sql"}} AS currency, list({ordinal: ordinal, said: price_evolution}) AS prices,
         list({ordinal: ordinal, said: volume}) AS volumes, bool_or(upper(figi_code) = upper($q)) AS code
  FROM bond_expected_tranches_{{$rows}}
  GROUP BY market, deal_id
), expected_loan_tranches AS (
  SELECT market, deal_id, {{template "_currencies.sql"}} AS currency, list({ordinal: ordinal, said: margin}) AS prices,
         list({ordinal: ordinal, said: volume}) AS volumes, bool_or(upper(figi_code) = upper($q)) AS code
  FROM loan_expected_tranches_{{$rows}}
  GROUP BY market, deal_id
), listed AS (
  SELECT 'bond' AS service, market, 'priced' AS kind, deal_id, version, known_at, borrower_name AS borrower, borrower_ticker AS ticker,
         borrower_sector AS sector, NULL::VARCHAR AS headline, pricing_date AS day, NULL::VARCHAR AS stage, currency, nominal_amount AS amount,
         nominal_usd AS usd, [{ordinal: 1, said: CASE market WHEN 'EM' THEN swap ELSE spread END}] AS prices, grade,
         CASE WHEN list_sum([coalesce(l, false)::INTEGER FOR l IN [green, social, sustainable, sustainability_linked]]) > 1 THEN 'multiple'
              WHEN green THEN 'green' WHEN social THEN 'social' WHEN sustainable THEN 'sustainable' WHEN sustainability_linked THEN 'sustainability-linked' END AS esg,
         upper($q) IN (upper(isin_code), upper(figi_code), upper(bloomberg_code)) AS code
  FROM bond_priced_deals_{{$rows}}
  UNION ALL BY NAME
  SELECT 'loan' AS service, d.market, 'priced' AS kind, d.deal_id, d.version, d.known_at, d.borrower_name AS borrower, d.borrower_ticker AS ticker,
         d.borrower_sector AS sector, d.headline, d.priced_date AS day, t.currency, d.deal_total_usd AS usd, t.prices, d.borrower_grade AS grade, t.esg, t.code
  FROM loan_priced_deals_{{$rows}} d
  LEFT JOIN loan_tranches t ON t.market = d.market AND t.deal_id = d.deal_id
  UNION ALL BY NAME
  SELECT 'bond' AS service, d.market, 'expected' AS kind, d.deal_id, d.version, d.known_at, d.borrower_name AS borrower, d.borrower_ticker AS ticker,
         d.borrower_sector AS sector, d.headline, t.currency, t.volumes, t.prices, t.code
  FROM bond_expected_deals_{{$rows}} d
  LEFT JOIN expected_bond_tranches t ON t.market = d.market AND t.deal_id = d.deal_id
  UNION ALL BY NAME
  SELECT 'loan' AS service, d.market, 'expected' AS kind, d.deal_id, d.version, d.known_at, d.borrower_name AS borrower, d.borrower_ticker AS ticker,
         d.borrower_sector AS sector, d.headline, d.stage, t.currency, t.volumes, t.prices, d.borrower_grade AS grade, t.code
  FROM loan_expected_deals_{{$rows}} d
  LEFT JOIN expected_loan_tranches t ON t.market = d.market AND t.deal_id = d.deal_id
){{if eq . "canonical"}}, canonical AS (
  SELECT 'bond' AS service, market, 'priced' AS kind, deal_id, borrower AS named FROM bond_deals_core_as_of($as_of::TIMESTAMPTZ)
  UNION ALL
  SELECT 'loan', market, 'priced', deal_id, borrower FROM loan_deals_core_as_of($as_of::TIMESTAMPTZ)
  UNION ALL
  SELECT DISTINCT service, market, 'expected', deal_id, borrower FROM pipeline_as_of($as_of::TIMESTAMPTZ)
){{end}}, found AS (
  SELECT * EXCLUDE (code{{if eq . "canonical"}}, named{{end}})
  FROM {{if eq . "removed"}}removed
  LEFT JOIN (SELECT * EXCLUDE (version, known_at) FROM listed) USING (service, market, kind, deal_id){{else}}listed{{end}}{{if eq . "canonical"}}
  LEFT JOIN canonical USING (service, market, kind, deal_id){{end}}
  WHERE ($service = '' OR service = $service) AND ($market = '' OR market = $market) AND ($kind = '' OR kind = $kind)
    AND ($currency = '' OR currency = $currency) AND ($sector = '' OR sector = $sector)
    AND ($grade = '' OR grade = $grade) AND ($esg = '' OR esg = $esg) AND ($year = '' OR strftime(day, '%Y') = $year)
    AND ($priced_from = '' OR day >= try_cast($priced_from AS DATE))
    AND ($q = '' OR CASE WHEN try_cast(regexp_extract($q, '^[0-9]+$') AS BIGINT) IS NOT NULL THEN deal_id = try_cast(regexp_extract($q, '^[0-9]+$') AS BIGINT)
           ELSE coalesce(code, false)
             OR contains(strip_accents(lower(concat_ws(' ', borrower, ticker, headline{{if eq . "canonical"}}, named{{end}}))), strip_accents(lower($q))) END)
)
