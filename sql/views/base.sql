-- Macros and views that several analyses use: knowledge time, canonical names, roles, and the catalog's derived tables.

-- The instant of the last pull, as of t. Compaction, expiry and replay add no knowledge.
CREATE MACRO main.knowledge_at(t) AS (
  SELECT max(_known_at)
  FROM (SELECT known_at AS _known_at FROM main.runs WHERE command IN ('run', 'sync', 'quarantine'))
  WHERE _known_at <= t::TIMESTAMPTZ
);
COMMENT ON MACRO main.knowledge_at IS 'The instant of the last pull, as of the instant t: the lake knew the source up to then.';

-- The same for one feed: if a run did not read the feed, the feed is not known up to that run.
CREATE MACRO _dealflow.observed(t) AS TABLE
WITH _runs AS NOT MATERIALIZED (
  FROM (SELECT "commit" AS _commit, known_at AS _known_at FROM _dealflow.runs WHERE command IN ('run', 'sync'))
  WHERE _known_at <= t::TIMESTAMPTZ
)
SELECT f.service, f.market, f.kind, max(r._known_at) AS known_at
FROM _dealflow.feed_runs f
JOIN _runs r ON r._commit = f."commit"
WHERE f.outcome = 'done'
GROUP BY f.service, f.market, f.kind;

-- No row if a lake can have the feed that an analysis is asked for, and an error otherwise. Letter case does not matter.
-- A macro with such parameters is a door, which says NOT EXISTS (FROM _dealflow.unknown_feed(…)), and what it asks then.
CREATE MACRO _dealflow.unknown_feed(of_service, of_market, of_kind) AS TABLE
WITH _asked AS (
  SELECT lower(of_service) AS _service, upper(of_market) AS _market, lower(of_kind) AS _kind
)
SELECT 1 AS unknown
FROM _asked
WHERE CASE WHEN _service || ' ' || _market IN (SELECT service || ' ' || market FROM main.markets) AND _kind IN ('priced', 'expected') THEN false
           ELSE error('service and market are one of ' || (SELECT string_agg(service || ' ' || market, ', ' ORDER BY precedence) FROM main.markets)
             || ', and kind is priced or expected, not ' || concat_ws(' ', coalesce(_service, 'NULL'), coalesce(_market, 'NULL'), coalesce(_kind, 'NULL'))) END;

-- Names are compared in this form: NFC, lower case, one space for each run of white space, control characters and U+FFFD,
-- which is in a column where the payload has U+0000. (NUL itself, in files of schema version 2 and before, is replaced
-- first, because nfc_normalize cuts a text there.) Characters without a width, such as soft hyphens, are left out. The
-- small letters of which each capital has two are one: ς is σ, and ß is ss.
CREATE MACRO _dealflow.normal_name(x) AS
  nullif(trim(regexp_replace(replace(translate(lower(nfc_normalize(regexp_replace(translate(x, chr(0) || chr(65533), '  '), '\p{Cf}+', '', 'g'))),
    'ς', 'σ'), 'ß', 'ss'), '[\s\pZ\pC]+', ' ', 'g')), '');

-- Roles of a bond's bank, and whether they make it a lead: those of this program, and those that the user declares
-- (docs/how-to/aliases.md), which take precedence. A role in neither list is not a lead's; data_quality counts it.
CREATE TABLE _dealflow.default_role (role VARCHAR, is_lead BOOLEAN);
INSERT INTO _dealflow.default_role
WITH short AS (
  SELECT unnest(['jgc', 'jbr', 'jlm', 'b&d', 'gc', 'bookrunner', 'joint bookrunner', 'global coordinator', 'joint global coordinator',
    'lead manager', 'joint lead manager']) AS role
)
SELECT p.which || r.role, true
FROM (SELECT unnest(['', 'joint ', 'sole ', 'lead ', 'active ', 'passive ', 'joint active ', 'joint passive ', 'active joint ', 'passive joint ', 'physical ', 'joint physical ', 'sole physical ']) AS which) p,
     (SELECT unnest(['bookrunner', 'bookrunners', 'book-runner', 'book-runners', 'book runner', 'book runners']) AS role) r
UNION ALL
SELECT p.which || r.role, true
FROM (SELECT unnest(['', 'joint ', 'sole ']) AS which) p,
     (SELECT unnest(['lead', 'leads', 'lead manager', 'lead managers', 'lead-manager', 'lead-managers', 'global coordinator', 'global coordinators',
        'global co-ordinator', 'global co-ordinators']) AS role) r
UNION ALL
SELECT unnest(['b&d', 'b & d', 'b and d', 'billing & delivery', 'billing and delivery', 'jbr', 'jlm', 'jlms', 'jgc']), true
UNION ALL
SELECT a.role || j.mark || b.role, true -- one bank in two roles: JGC/JBR
FROM short a
JOIN short b ON a.role <> b.role,
     (SELECT unnest(['/', ' / ', ' & ', ' and ', ', ', ' + ']) AS mark) j
UNION ALL
SELECT unnest(['co-lead', 'co-leads', 'co-lead manager', 'co-lead managers', 'co-manager', 'co-managers', 'senior co-manager', 'senior co-managers',
  'junior co-manager', 'junior co-managers', 'structurer', 'structurers', 'structuring agent', 'structuring agents']), false;
CREATE TABLE _dealflow.declared_role (role VARCHAR, is_lead BOOLEAN);
CREATE VIEW _dealflow.bank_role AS
WITH declared AS (
  SELECT _dealflow.normal_name(role) AS role, bool_or(is_lead) AS is_lead FROM _dealflow.declared_role GROUP BY 1
)
FROM declared
UNION ALL
FROM _dealflow.default_role d WHERE NOT EXISTS (FROM declared o WHERE o.role = d.role);
CREATE VIEW _dealflow.role_spelling AS
SELECT s.spelt, r.is_lead FROM _dealflow.spelling s JOIN _dealflow.bank_role r ON r.role = s.name;

-- Aliases of banks and borrowers, as the user declares them (docs/how-to/aliases.md). An alias is valid from valid_from
-- on; NULL: always.
CREATE TABLE _dealflow.bank_alias (alias VARCHAR, canonical VARCHAR, valid_from DATE);
CREATE TABLE _dealflow.borrower_alias (alias VARCHAR, canonical VARCHAR, valid_from DATE);

-- The UTC day of an instant, whatever the connection's time zone.
CREATE MACRO main.utc_day(t) AS (t::TIMESTAMPTZ AT TIME ZONE 'UTC')::DATE;
COMMENT ON MACRO main.utc_day IS 'The UTC day of the instant t, whatever the connection''s time zone.';

-- The day for which a name is resolved. A missing day counts as before all days.
CREATE MACRO _dealflow.name_day(d) AS coalesce(d::DATE, '-infinity'::DATE);

-- Names by alias: alias in normal form, canonical from valid_from until before valid_to. A name n on a day d is
-- coalesce(a.canonical, normal_name(n)) after LEFT JOIN … a ON a.alias = normal_name(n) AND a.valid_from <= name_day(d)
-- AND a.valid_to > name_day(d). For a missing day only aliases without valid_from count.
CREATE VIEW _dealflow.bank_name AS
SELECT _dealflow.normal_name(alias) AS alias, min(canonical) AS canonical, _dealflow.name_day(valid_from) AS valid_from,
       lead(_dealflow.name_day(valid_from), 1, 'infinity'::DATE)
         OVER (PARTITION BY _dealflow.normal_name(alias) ORDER BY _dealflow.name_day(valid_from)) AS valid_to
FROM _dealflow.bank_alias GROUP BY 1, 3;
CREATE VIEW _dealflow.borrower_name AS
SELECT _dealflow.normal_name(alias) AS alias, min(canonical) AS canonical, _dealflow.name_day(valid_from) AS valid_from,
       lead(_dealflow.name_day(valid_from), 1, 'infinity'::DATE)
         OVER (PARTITION BY _dealflow.normal_name(alias) ORDER BY _dealflow.name_day(valid_from)) AS valid_to
FROM _dealflow.borrower_alias GROUP BY 1, 3;

-- The listings of priced deals at t that do not count: if several markets list a security (bonds: equal ISIN, day, deal type
-- and nominal amount; loans' tranches: equal FIGI, day, currency and nominal amount), the first in precedence keeps it.
-- duplicate_of is that market.
CREATE MACRO _dealflow.duplicates(of_service, t) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(t)
)
SELECT l.market, l.deal_id, l.ordinal, k.market AS duplicate_of, l.keeps.deal_id AS kept_deal_id
FROM (
  SELECT s.market, s.deal_id, s.ordinal, m.precedence,
         min({precedence: m.precedence, deal_id: s.deal_id}) OVER (PARTITION BY s.code, s.day, s.kind, s.amount) AS keeps
  FROM _dealflow.listing s
  JOIN _versions v
    ON v.service = s.service AND v.kind = 'priced' AND v.market = s.market AND v.deal_id = s.deal_id AND v.version = s.version
  JOIN main.markets m ON m.service = s.service AND m.market = s.market
  WHERE s.service = of_service AND s.shared
) l
JOIN main.markets k ON k.precedence = l.keeps.precedence
WHERE l.keeps.precedence < l.precedence;

-- The priced bond deals as known at t, and the tranches of priced loans, which may be with the day on which their deal priced.
-- duplicate_of is NULL for those that count.
CREATE MACRO _dealflow.bond_deals(t) AS TABLE
WITH _duplicates AS NOT MATERIALIZED (
  FROM _dealflow.duplicates('bond', t)
)
SELECT d.*, x.duplicate_of
FROM main.bond_priced_deals_as_of(t) d
LEFT JOIN _duplicates x ON x.market = d.market AND x.deal_id = d.deal_id;
CREATE MACRO _dealflow.loan_listings(t) AS TABLE
WITH _duplicates AS NOT MATERIALIZED (
  FROM _dealflow.duplicates('loan', t)
)
SELECT l.*, x.duplicate_of
FROM main.loan_priced_tranches_as_of(t) l
LEFT JOIN _duplicates x ON x.market = l.market AND x.deal_id = l.deal_id AND x.ordinal = l.ordinal;
CREATE MACRO _dealflow.loan_tranches(t) AS TABLE
WITH _deals AS NOT MATERIALIZED (
  SELECT market, deal_id, priced_date FROM main.loan_priced_deals_as_of(t)
)
SELECT l.*, d.priced_date
FROM _dealflow.loan_listings(t) l
JOIN _deals d ON d.market = l.market AND d.deal_id = l.deal_id;

-- The months of a loan's tenor: of a maturity text such as 7yr, else the number tenor. The source does not state its unit:
-- from 12 to 480 it is months, any other number is not read.
CREATE MACRO _dealflow.tenor_months(maturity_tenor_years, tenor) AS
  coalesce(round(12 * maturity_tenor_years)::INTEGER, CASE WHEN tenor BETWEEN 12 AND 480 THEN tenor END);

-- The banks of priced deals as known at t, entry by entry: name in its normal form, bank the canonical one; and in one
-- row per deal (loans: per tranche) and bank, where is_lead says whether any of the bank's entries is a lead's.
CREATE MACRO _dealflow.bond_bank_entries(t) AS TABLE
WITH _deals AS NOT MATERIALIZED (
  SELECT market, deal_id, pricing_date FROM main.bond_priced_deals_as_of(t)
)
SELECT e.market, e.deal_id, d.pricing_date, n.name, coalesce(a.canonical, n.name) AS bank, coalesce(r.is_lead, false) AS is_lead
FROM (SELECT market, deal_id, name, status FROM main.bond_priced_banks_as_of(t)) e
JOIN _dealflow.spelling n ON n.spelt = e.name
LEFT JOIN _dealflow.role_spelling r ON r.spelt = e.status
JOIN _deals d ON d.market = e.market AND d.deal_id = e.deal_id
LEFT JOIN _dealflow.bank_name a ON a.alias = n.name
 AND a.valid_from <= _dealflow.name_day(d.pricing_date) AND a.valid_to > _dealflow.name_day(d.pricing_date)
WHERE n.name IS NOT NULL;
CREATE MACRO _dealflow.loan_bank_entries(t) AS TABLE
WITH _deals AS NOT MATERIALIZED (
  SELECT market, deal_id, priced_date FROM main.loan_priced_deals_as_of(t)
)
SELECT e.market, e.deal_id, e.tranche_ordinal, d.priced_date, n.name, coalesce(a.canonical, n.name) AS bank, e.is_lead
FROM (
  SELECT market, deal_id, tranche_ordinal, name, coalesce(type_bookrunner, false) OR coalesce(type_mla, false) AS is_lead
  FROM main.loan_priced_tranche_banks_as_of(t)
) e
JOIN _dealflow.spelling n ON n.spelt = e.name
JOIN _deals d ON d.market = e.market AND d.deal_id = e.deal_id
LEFT JOIN _dealflow.bank_name a ON a.alias = n.name
 AND a.valid_from <= _dealflow.name_day(d.priced_date) AND a.valid_to > _dealflow.name_day(d.priced_date)
WHERE n.name IS NOT NULL;
CREATE MACRO _dealflow.bond_banks(t) AS TABLE
SELECT market, deal_id, bank, bool_or(is_lead) AS is_lead
FROM _dealflow.bond_bank_entries(t) GROUP BY market, deal_id, bank;
CREATE MACRO _dealflow.loan_banks(t) AS TABLE
SELECT market, deal_id, tranche_ordinal, bank, bool_or(is_lead) AS is_lead
FROM _dealflow.loan_bank_entries(t) GROUP BY market, deal_id, tranche_ordinal, bank;

-- The ESG label of a deal. For a loan's tranche: esg_label(green_loan, NULL, NULL, sustainability_linked).
CREATE MACRO _dealflow.esg_label(green, social, sustainable, linked) AS
  CASE coalesce(green, false)::INT + coalesce(social, false)::INT + coalesce(sustainable, false)::INT + coalesce(linked, false)::INT
  WHEN 0 THEN NULL
  WHEN 1 THEN CASE WHEN green THEN 'green' WHEN social THEN 'social' WHEN sustainable THEN 'sustainability' ELSE 'slb' END
  ELSE 'multiple' END;

-- One grade, one spread and one premium for all markets, which name and fill them in different columns.
CREATE MACRO _dealflow.grade_canon(grade) AS
  CASE upper(grade) WHEN 'HIGH_YIELD' THEN 'SUB_INVESTMENT' ELSE upper(grade) END;
CREATE MACRO _dealflow.spread_primary_bp(market, spread_status, spread_bp, swap_status, swap_bp) AS
  CASE WHEN market = 'EM' THEN CASE WHEN swap_status = 'OK' THEN swap_bp END WHEN spread_status = 'OK' THEN spread_bp END;
CREATE MACRO _dealflow.nip_primary_bp(market, status, lo, hi, premium_status, premium_lo, premium_hi) AS
  CASE WHEN market = 'EM' AND premium_status IN ('OK', 'RANGE') AND premium_lo + premium_hi IS NOT NULL THEN (premium_lo + premium_hi) / 2
       WHEN status IN ('OK', 'RANGE') THEN (lo + hi) / 2 END;

-- Whether a tranche of an expected deal has priced, from its status and its link to the priced deal (of loans: its deal's).
CREATE MACRO main.is_priced(of_service, status, priced_deal_id) AS (
  priced_deal_id IS NOT NULL
  OR coalesce(CASE of_service WHEN 'bond' THEN status IN ('PRICED', 'INCREASED') ELSE lower(status) = 'priced' END, false));
COMMENT ON MACRO main.is_priced IS 'Whether a tranche of an expected deal of of_service has priced: by its status, or by the link to the priced deal (of loans: its deal''s).';

-- The market of a link to a priced deal. The host is not looked at: it may be a former one of the same API.
CREATE MACRO main.linked_market(of_service, href) AS
  nullif(upper(regexp_extract(href, '/' || of_service || '/([a-z]+)/priced-deal/', 1, 'i')), '');
COMMENT ON MACRO main.linked_market IS 'The market of the priced deal of of_service to which href leads; NULL if href is not the path of one.';

-- The link of each priced bond deal to its original, as known at t: the deal that counts, if another market keeps the original.
CREATE MACRO _dealflow.bond_links(t) AS TABLE
WITH _duplicates AS NOT MATERIALIZED (
  FROM _dealflow.duplicates('bond', t)
)
SELECT d.market, d.deal_id, d.increase,
       nullif({market: coalesce(x.duplicate_of, d.original_market), deal_id: coalesce(x.kept_deal_id, d.original_deal_id)},
              {market: d.market, deal_id: d.deal_id}) AS original
FROM (
  SELECT market, deal_id, original_deal_id, main.linked_market('bond', original_href) AS original_market,
         coalesce(deal_type = 'INCREASE', false) AS increase
  FROM main.bond_priced_deals_as_of(t)
) d
LEFT JOIN _duplicates x ON x.market = d.original_market AND x.deal_id = d.original_deal_id;

-- The line of each priced bond deal, as known at t. Its root is found by following the links to originals to a deal without
-- one, or to one that is not known. A link to a deal that another market keeps leads to that market's deal. A deal that names itself has no
-- original, and of a circle the least deal is the root. root_known is false if the root is not known, or is an increase
-- itself: the original is then not known.
CREATE MACRO _dealflow.bond_lines(t) AS TABLE
WITH RECURSIVE links AS MATERIALIZED (
  FROM _dealflow.bond_links(t)
), chain AS (
  SELECT market, deal_id, original AS reached, [{market: market, deal_id: deal_id}] AS path
  FROM links
  WHERE original.market IS NOT NULL AND original.deal_id IS NOT NULL
  UNION ALL
  SELECT c.market, c.deal_id, l.original, list_append(c.path, c.reached)
  FROM chain c
  JOIN links l ON l.market = c.reached.market AND l.deal_id = c.reached.deal_id
  WHERE l.original.market IS NOT NULL AND l.original.deal_id IS NOT NULL AND NOT list_contains(c.path, c.reached)
), roots AS (
  SELECT market, deal_id,
         max_by(CASE WHEN list_contains(path, reached) THEN list_min(path[list_position(path, reached):]) ELSE reached END, len(path)) AS root
  FROM chain
  GROUP BY market, deal_id
), lines AS (
  SELECT d.market, d.deal_id, coalesce(r.root.market, d.market) AS root_market, coalesce(r.root.deal_id, d.deal_id) AS root_deal_id
  FROM links d
  LEFT JOIN roots r ON r.market = d.market AND r.deal_id = d.deal_id
)
SELECT l.*, coalesce(NOT o.increase, false) AS root_known
FROM lines l
LEFT JOIN links o ON o.market = l.root_market AND o.deal_id = l.root_deal_id;

-- The tranches of expected deals as of t, with their deals; a deal without tranches has one row.
CREATE MACRO _dealflow.expected_bonds(t) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(t)
), _deals AS NOT MATERIALIZED (
  SELECT * EXCLUDE (_file_year)
  FROM (SELECT market AS _market, deal_id AS _deal_id, version AS _version, borrower_name AS _borrower_name, headline AS _headline,
               created AS _created, file_year AS _file_year
        FROM _dealflow.history_bond_expected_deals)
  WHERE _dealflow.bond_may_be_listed(_file_year, t::TIMESTAMPTZ, t::TIMESTAMPTZ)
), _tranches AS NOT MATERIALIZED (
  SELECT * EXCLUDE (_file_year)
  FROM (SELECT market AS _market, deal_id AS _deal_id, version AS _version, ordinal AS _ordinal, name AS _name, status AS _status,
               currency AS _currency, structure AS _structure, NULL::VARCHAR AS _type, volume AS _volume,
               volume_amount AS _volume_amount, volume_lo AS _volume_lo, volume_hi AS _volume_hi,
               volume_currency AS _volume_currency, volume_status AS _volume_status, price_evolution AS _price,
               price_evolution_benchmark AS _price_benchmark, price_evolution_lo_bp AS _price_lo_bp,
               price_evolution_hi_bp AS _price_hi_bp, price_evolution_yield_lo_pct AS _price_yield_lo_pct,
               price_evolution_yield_hi_pct AS _price_yield_hi_pct, NULL::VARCHAR AS _oid, price_evolution_status AS _price_status,
               timing AS _timing, changed AS _tranche_changed, priced_deal_id AS _priced_deal_id,
               main.linked_market('bond', priced_deal_href) AS _priced_market, file_year AS _file_year
        FROM _dealflow.history_bond_expected_tranches)
  WHERE _dealflow.bond_may_be_listed(_file_year, t::TIMESTAMPTZ, t::TIMESTAMPTZ)
), standing AS NOT MATERIALIZED (
  SELECT v.market, v.deal_id, v.version, v.valid_from, v.first_known_at, v.left_censored
  FROM _versions v
  WHERE v.service = 'bond' AND v.kind = 'expected' AND v.change <> 'removed'
), deals AS (
  SELECT s.*, d.borrower_name, d.headline, d.created
  FROM standing s
  JOIN (SELECT COLUMNS('^_(.+)$') AS "\1" FROM _deals) d USING (market, deal_id, version)
), tranches AS (
  SELECT e.*
  FROM standing s
  JOIN (SELECT COLUMNS('^_(.+)$') AS "\1" FROM _tranches) e USING (market, deal_id, version)
)
SELECT 'bond' AS service, *, NULL::VARCHAR AS stage, NULL::BOOLEAN AS sponsor_backed
FROM deals
LEFT JOIN tranches USING (market, deal_id, version);
CREATE MACRO _dealflow.expected_loans(t) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(t)
), _deals AS NOT MATERIALIZED (
  SELECT * EXCLUDE (_file_year)
  FROM (SELECT market AS _market, deal_id AS _deal_id, version AS _version, borrower_name AS _borrower_name, headline AS _headline,
               created AS _created, stage AS _stage, borrower_sponsor_backed AS _borrower_sponsor_backed,
               priced_deal_id AS _priced_deal_id, priced_deal_href AS _priced_deal_href, file_year AS _file_year
        FROM _dealflow.history_loan_expected_deals)
  WHERE _dealflow.loan_may_be_listed(_file_year, t::TIMESTAMPTZ, t::TIMESTAMPTZ)
), _tranches AS NOT MATERIALIZED (
  SELECT * EXCLUDE (_file_year)
  FROM (SELECT market AS _market, deal_id AS _deal_id, version AS _version, ordinal AS _ordinal, name AS _name, status AS _status,
               currency AS _currency, NULL::VARCHAR AS _structure, short_type AS _type, volume AS _volume,
               volume_amount AS _volume_amount, volume_lo AS _volume_lo, volume_hi AS _volume_hi,
               volume_currency AS _volume_currency, volume_status AS _volume_status, margin AS _price,
               margin_benchmark AS _price_benchmark, margin_lo_bp AS _price_lo_bp, margin_hi_bp AS _price_hi_bp,
               NULL::DECIMAL(12, 6) AS _price_yield_lo_pct, NULL::DECIMAL(12, 6) AS _price_yield_hi_pct, oid AS _oid,
               margin_status AS _price_status, timing AS _timing, changed AS _tranche_changed, file_year AS _file_year
        FROM _dealflow.history_loan_expected_tranches)
  WHERE _dealflow.loan_may_be_listed(_file_year, t::TIMESTAMPTZ, t::TIMESTAMPTZ)
), standing AS NOT MATERIALIZED (
  SELECT v.market, v.deal_id, v.version, v.valid_from, v.first_known_at, v.left_censored
  FROM _versions v
  WHERE v.service = 'loan' AND v.kind = 'expected' AND v.change <> 'removed'
), deals AS (
  SELECT s.*, d.borrower_name, d.headline, d.created, d.stage, d.borrower_sponsor_backed AS sponsor_backed,
         d.priced_deal_id, main.linked_market('loan', d.priced_deal_href) AS priced_market
  FROM standing s
  JOIN (SELECT COLUMNS('^_(.+)$') AS "\1" FROM _deals) d USING (market, deal_id, version)
), tranches AS (
  SELECT e.*
  FROM standing s
  JOIN (SELECT COLUMNS('^_(.+)$') AS "\1" FROM _tranches) e USING (market, deal_id, version)
)
SELECT 'loan' AS service, *
FROM deals
LEFT JOIN tranches USING (market, deal_id, version);

-- The tranches of expected bonds and loans, of all markets.
CREATE MACRO _dealflow.pipeline_tranches(t) AS TABLE
FROM _dealflow.expected_bonds(t) UNION ALL BY NAME FROM _dealflow.expected_loans(t);

-- A number of days that an analysis is asked for. 1.5 and -1 are errors: DuckDB would make 2 of the one, and the other has no meaning.
CREATE MACRO _dealflow.days_asked(what, days) AS
  CASE WHEN days::DOUBLE >= 0 AND days::DOUBLE = floor(days::DOUBLE) THEN days::BIGINT
       ELSE error(what || ' is a whole number of days from 0 on, not ' || coalesce(days::VARCHAR, 'NULL')) END;

-- The mean of values in any order. A sum of floats depends on the order in its last digit, so decimals are added.
CREATE MACRO _dealflow.mean(x) AS round(avg(x::DECIMAL(38, 12))::DOUBLE, 6);

-- A derived number (basis points, percent, multiples) as analyses return it: DOUBLE, rounded to 6 digits.
CREATE MACRO _dealflow.number(x) AS round(x::DOUBLE, 6);

-- The curve of a benchmark: MS for the swaps of any index, such as SOFR MS.
CREATE MACRO _dealflow.curve(benchmark) AS CASE WHEN benchmark LIKE '% MS' THEN 'MS' ELSE benchmark END;

-- Whether a text of a rating says that there is none, or is missing. A text that was not read says nothing: that of a row
-- which an older program wrote has no status before a replay.
CREATE MACRO _dealflow.says_unrated(text, status) AS (text IS NULL OR coalesce(status = 'NO_NUMBER', false));

-- The cohort of a composite rating: AAA, AA, A, BBB, BB, B, CCC (and below) or unrated.
CREATE MACRO _dealflow.rating_cohort(notch) AS
  CASE WHEN notch IS NULL THEN 'unrated' WHEN notch <= 1 THEN 'AAA' WHEN notch <= 4 THEN 'AA' WHEN notch <= 7 THEN 'A'
       WHEN notch <= 10 THEN 'BBB' WHEN notch <= 13 THEN 'BB' WHEN notch <= 16 THEN 'B' ELSE 'CCC' END;

-- Whether books and nominal seem to have different units; NULL if one is missing.
CREATE MACRO _dealflow.books_outlier(books, nominal) AS
  CASE WHEN books > 0 AND nominal > 0 THEN books / nominal NOT BETWEEN 0.5 AND 20 END;
