-- league_table: Banks ranked by the volume that they led, in any market and period, as known at any instant.
-- as of: league_table('IG', DATE '2023-01-01', DATE '2026-12-31', {as_of})
-- as of: league_table('BOND', DATE '2023-01-01', DATE '2026-12-31', {as_of})
-- as of: league_table('LOAN', DATE '2023-01-01', DATE '2026-12-31', {as_of})
-- as of: league_table('BOND', DATE '2023-01-01', DATE '2026-12-31', {as_of}, scope := 'all')
-- as of: league_table('LOAN', DATE '2023-01-01', DATE '2026-12-31', {as_of}, scope := 'all', credit := 'full')
--
-- Definition: One row per bank. Each deal that priced from from_date to to_date (both included) is credited to its
--   banks, by credit: each gets the nominal in USD ÷ number of banks ('split'), or the complete nominal ('full'); or
--   each lead gets the nominal ÷ number of leads, and no other bank has a part, whatever the scope ('lead').
--   - Bonds: deals that count (see bond_priced_as_of) and are league_table_eligible, by pricing_date. Loans: each
--     tranche, by the deal's priced_date. If several markets list a tranche (equal FIGI, day, currency and nominal
--     amount), it counts only in the first of them, as a bond does.
--   - Banks have canonical names, and a bank gets one part of a deal however many entries it has.
--   - rank: by credit_usd, then name. share: credit_usd ÷ total_usd.
--   - deals: deals of which the bank has a part. deals_total: deals that are in total_usd.
--   - deals_unconverted: deals whose nominal (of a tranche) is missing or has no USD amount. It is in no sum. A loan
--     without tranches is in no column.
-- Parameters: of_market: IG, HY, EM, LL, CF or AF; BOND or LOAN for all three. from_date, to_date: DATE. as_of
--   TIMESTAMPTZ: what was known at this instant ('infinity', the default: all that is known). scope: 'lead', the
--   default (bonds: bookrunners, lead managers, global coordinators and B&D, or as aliases/roles.csv says; loans:
--   bookrunners and mandated lead arrangers), or 'all'. credit: 'split', the default, 'full' or 'lead'.
-- Units: USD. Parts are cut to six digits, and the first bank by name gets the remainder: so credits add up to
--   total_usd exactly, except with credit 'full'. Then shares add up to more than 1.
-- Caveats: The volume of deals without such a bank is in the row 'unallocated', which has no rank. It is in
--   total_usd. Two spellings are one bank only if an alias says so. A bank with an
--   unknown role is no lead; data_quality counts such roles.
-- Example: Who led investment-grade bonds in the year before the latest pricing, as known now?
--   SELECT rank, bank, (credit_usd / 1e6)::DECIMAL(18, 1) AS usd_millions, round(100 * share, 1) AS share_pct, deals
--   FROM league_table('IG', (SELECT max(pricing_date) - 365 FROM bond_priced_deals), (SELECT max(pricing_date) FROM bond_priced_deals))
--   ORDER BY rank NULLS LAST LIMIT 10
CREATE MACRO main.league_table(of_market, from_date, to_date, as_of := 'infinity'::TIMESTAMPTZ, scope := 'lead', credit := 'split') AS TABLE
WITH _asked AS (
  SELECT upper(of_market) AS _market, scope::VARCHAR AS _scope, credit::VARCHAR AS _credit
), wanted AS (
  SELECT m.market
  FROM main.markets m, _asked
  WHERE CASE WHEN _market IN (SELECT unnest([market, upper(service)]) FROM main.markets)
             THEN _market IN (m.market, upper(m.service))
             ELSE error('market is ' || (SELECT string_agg(market, ', ' ORDER BY precedence) FROM main.markets) || ', BOND or LOAN') END
), _bonds AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM (SELECT COLUMNS('(.+)') AS '_\1' FROM _dealflow.bond_deals(as_of)) WHERE _pricing_date BETWEEN from_date AND to_date)
), _tranches AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM (SELECT COLUMNS('(.+)') AS '_\1' FROM _dealflow.loan_tranches(as_of)) WHERE _priced_date BETWEEN from_date AND to_date)
), _bond_banks AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM (SELECT COLUMNS('(.+)') AS '_\1' FROM _dealflow.bond_bank_entries(as_of)) WHERE _pricing_date BETWEEN from_date AND to_date)
), _loan_banks AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM (SELECT COLUMNS('(.+)') AS '_\1' FROM _dealflow.loan_bank_entries(as_of)) WHERE _priced_date BETWEEN from_date AND to_date)
), units AS ( -- what is divided among banks: a bond deal, a loan's tranche
  SELECT d.market, d.deal_id, NULL AS tranche, d.nominal_usd
  FROM _bonds d
  SEMI JOIN wanted w ON w.market = d.market
  WHERE d.league_table_eligible AND d.duplicate_of IS NULL
  UNION ALL
  SELECT t.market, t.deal_id, t.ordinal AS tranche, t.nominal_usd
  FROM _tranches t
  SEMI JOIN wanted w ON w.market = t.market
  WHERE t.duplicate_of IS NULL
), entries AS (
  SELECT b.market, b.deal_id, NULL AS tranche, b.bank, b.is_lead
  FROM _bond_banks b
  SEMI JOIN wanted w ON w.market = b.market
  UNION ALL
  SELECT b.market, b.deal_id, b.tranche_ordinal AS tranche, b.bank, b.is_lead
  FROM _loan_banks b
  SEMI JOIN wanted w ON w.market = b.market
), banks AS (
  SELECT DISTINCT e.market, e.deal_id, e.tranche, e.bank
  FROM entries e
  CROSS JOIN _asked a
  WHERE CASE a._scope WHEN 'lead' THEN e.is_lead WHEN 'all' THEN e.is_lead OR a._credit <> 'lead'
             ELSE error('scope is lead or all, not ' || coalesce(a._scope, 'NULL')) END
    AND CASE WHEN a._credit IN ('split', 'full', 'lead') THEN true ELSE error('credit is split, full or lead, not ' || coalesce(a._credit, 'NULL')) END
), shared AS ( -- in millionths of a dollar: integers, so no part is lost
  SELECT u.market, u.deal_id, coalesce(b.bank, 'unallocated') AS bank, b.bank IS NULL AS unallocated,
         (u.nominal_usd * 1000000)::HUGEINT AS nominal,
         CASE (SELECT _credit FROM _asked) WHEN 'full' THEN 1 ELSE count(*) OVER unit END AS k, row_number() OVER (unit ORDER BY b.bank) AS place
  FROM units u
  LEFT JOIN banks b ON b.market = u.market AND b.deal_id = u.deal_id AND b.tranche IS NOT DISTINCT FROM u.tranche
  WHERE u.nominal_usd <> 0
  WINDOW unit AS (PARTITION BY u.market, u.deal_id, u.tranche)
), credits AS (
  SELECT s.bank, s.unallocated, count(DISTINCT (s.market, s.deal_id)) AS deals,
         sum(s.nominal // s.k + CASE s.place WHEN 1 THEN s.nominal % s.k ELSE 0 END) AS credit
  FROM shared s
  GROUP BY ALL
), totals AS (
  SELECT sum(u.nominal_usd) AS total_usd,
         count(DISTINCT (u.market, u.deal_id)) FILTER (u.nominal_usd <> 0) AS deals_total,
         count(DISTINCT (u.market, u.deal_id)) FILTER (coalesce(u.nominal_usd, 0) = 0) AS deals_unconverted
  FROM units u
)
SELECT CASE WHEN NOT c.unallocated THEN row_number() OVER (ORDER BY c.unallocated, c.credit DESC, c.bank) END AS rank,
       c.bank, (c.credit::DECIMAL(30, 0) * 0.000001)::DECIMAL(24, 6) AS credit_usd,
       c.credit / (t.total_usd * 1000000) AS share, c.deals,
       t.total_usd::DECIMAL(24, 6) AS total_usd, t.deals_total, t.deals_unconverted
FROM credits c
CROSS JOIN totals t
ORDER BY c.unallocated, c.credit DESC, c.bank;
COMMENT ON MACRO TABLE main.league_table IS 'Banks ranked by the volume that they led, in any market and period, as known at any instant.';
