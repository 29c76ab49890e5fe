-- pipeline_as_of: The pipeline as it was known at an instant: one row per tranche of an expected deal.
-- as of: pipeline_as_of({as_of})
--
-- Definition: One row per tranche of the expected deals, bonds and loans, that were current at as_of. A deal
--   without tranches has one row, in which the tranche's columns are NULL.
--   - tranche_uid: identifies the tranche in its deal, and stays the same from version to version.
--   - price: the bond's latest price talk, or the loan's margin, as text. The other price_* columns are what the
--     parsers read in it.
--   - borrower: the canonical name on the day on which the version became known.
--   - days_listed: full days from first_known_at to the last time that the deal's feed was read.
-- Parameters: as_of: the instant (default: the newest state).
-- Units: volume_amount, volume_lo, volume_hi in units of volume_currency; price_lo_bp, price_hi_bp in basis points
--   over price_benchmark; price_yield_lo_pct, price_yield_hi_pct in percent; days_listed in days.
-- Caveats: A deal stays listed for a while after it has priced: add WHERE NOT is_priced for deals still to come. A
--   loan tranche's status is free text: 'Priced' counts in upper and lower case, other spellings do not. days_listed
--   is NULL for deals of their feed's first commit, because the lake did not see when they were listed.
-- Example: What is still to come, and for how long has it been listed?
--   SELECT service, market, count(*) AS tranches, count(volume_lo) AS with_volume,
--          count(days_listed) AS with_days, median(days_listed) AS median_days_listed
--   FROM pipeline_as_of
--   WHERE NOT is_priced
--   GROUP BY service, market
--   ORDER BY service, market
CREATE MACRO main.pipeline_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _observed AS NOT MATERIALIZED (
  FROM _dealflow.observed(as_of)
)
SELECT d.service, d.market, d.deal_id, l.tranche_uid, d.ordinal,
       d.borrower_name, coalesce(a.canonical, n.name) AS borrower, d.headline, d.stage,
       d.name AS tranche_name, d.status, d.currency, d.structure, d.type,
       d.volume, d.volume_amount, d.volume_lo, d.volume_hi, d.volume_currency, d.volume_status,
       d.price, d.price_benchmark, d.price_lo_bp, d.price_hi_bp, d.price_yield_lo_pct, d.price_yield_hi_pct,
       d.oid, d.price_status, d.timing, d.created, d.first_known_at, d.left_censored,
       CASE WHEN NOT d.left_censored
            THEN (epoch_us(o.known_at) - epoch_us(d.first_known_at)) // 86400000000 END AS days_listed,
       main.is_priced(d.service, d.status, d.priced_deal_id) AS is_priced,
       d.priced_deal_id, d.priced_market, d.tranche_changed, d.sponsor_backed
FROM _dealflow.pipeline_tranches(as_of) d
LEFT JOIN _observed o ON o.service = d.service AND o.market = d.market AND o.kind = 'expected'
LEFT JOIN _dealflow.tranche_lineage l
  ON l.service = d.service AND l.market = d.market AND l.deal_id = d.deal_id AND l.version = d.version AND l.ordinal = d.ordinal
LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
 AND a.valid_from <= main.utc_day(d.valid_from) AND a.valid_to > main.utc_day(d.valid_from)
ORDER BY d.service, d.market, d.deal_id, d.ordinal;
COMMENT ON MACRO TABLE main.pipeline_as_of IS 'The pipeline of expected deals as it was known at as_of, one row per tranche.';

CREATE VIEW main.pipeline_as_of AS FROM main.pipeline_as_of();
COMMENT ON VIEW main.pipeline_as_of IS 'The pipeline of expected deals as of now, one row per tranche.';
COMMENT ON COLUMN main.pipeline_as_of.service IS 'bond or loan.';
COMMENT ON COLUMN main.pipeline_as_of.market IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.pipeline_as_of.deal_id IS 'The source''s id of the expected deal; unique only within service and market.';
COMMENT ON COLUMN main.pipeline_as_of.tranche_uid IS 'Identity of the tranche in its deal; the same from version to version.';
COMMENT ON COLUMN main.pipeline_as_of.ordinal IS 'Place of the tranche in the deal''s list, from 1; NULL for a deal without tranches.';
COMMENT ON COLUMN main.pipeline_as_of.borrower_name IS 'Name of the borrower or issuer as the source spells it.';
COMMENT ON COLUMN main.pipeline_as_of.borrower IS 'Canonical name of the borrower: from the aliases, else the name in normal form.';
COMMENT ON COLUMN main.pipeline_as_of.headline IS 'The newest headline, free text.';
COMMENT ON COLUMN main.pipeline_as_of.stage IS 'Stage of a loan, free text; NULL for bonds.';
COMMENT ON COLUMN main.pipeline_as_of.tranche_name IS 'Name of the tranche; neither unique nor stable.';
COMMENT ON COLUMN main.pipeline_as_of.status IS 'Status of the tranche. Bonds: EXPECTED, TO_BE_INCREASED, INCREASED or PRICED. Loans: free text.';
COMMENT ON COLUMN main.pipeline_as_of.currency IS 'Currency code, as written.';
COMMENT ON COLUMN main.pipeline_as_of.structure IS 'Structure of a bond, free text such as 8NC3; NULL for loans.';
COMMENT ON COLUMN main.pipeline_as_of.type IS 'Short form of a loan''s type, free text such as TLB; NULL for bonds.';
COMMENT ON COLUMN main.pipeline_as_of.volume IS 'Size, free text.';
COMMENT ON COLUMN main.pipeline_as_of.volume_amount IS 'The size, if the text gives one number. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_as_of.volume_lo IS 'Lower end or minimum of the size; the size itself if the text gives one number. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_as_of.volume_hi IS 'Upper end or maximum of the size; the size itself if the text gives one number. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_as_of.volume_currency IS 'Currency that the text names, else the currency column''s.';
COMMENT ON COLUMN main.pipeline_as_of.volume_status IS 'How the text of volume was read: OK, RANGE, VERBAL, NO_NUMBER, AMBIGUOUS or UNPARSED.';
COMMENT ON COLUMN main.pipeline_as_of.price IS 'Latest price talk of a bond, margin of a loan; free text.';
COMMENT ON COLUMN main.pipeline_as_of.price_benchmark IS 'Benchmark of the spread or margin.';
COMMENT ON COLUMN main.pipeline_as_of.price_lo_bp IS 'Lower end of the spread or margin; itself if the text gives one number. Unit: basis points.';
COMMENT ON COLUMN main.pipeline_as_of.price_hi_bp IS 'Upper end of the spread or margin; itself if the text gives one number. Unit: basis points.';
COMMENT ON COLUMN main.pipeline_as_of.price_yield_lo_pct IS 'Lower end of the yield, if the price talk gives a yield; NULL for loans. Unit: percent.';
COMMENT ON COLUMN main.pipeline_as_of.price_yield_hi_pct IS 'Upper end of the yield, if the price talk gives a yield; NULL for loans. Unit: percent.';
COMMENT ON COLUMN main.pipeline_as_of.oid IS 'Original issue discount of a loan as a price, free text; NULL for bonds.';
COMMENT ON COLUMN main.pipeline_as_of.price_status IS 'How the text of price was read: OK, OK_YIELD, RANGE, VERBAL, NO_NUMBER, AMBIGUOUS or UNPARSED.';
COMMENT ON COLUMN main.pipeline_as_of.timing IS 'Timing, free text.';
COMMENT ON COLUMN main.pipeline_as_of.created IS 'When the source created the deal.';
COMMENT ON COLUMN main.pipeline_as_of.first_known_at IS 'When the deal first became known.';
COMMENT ON COLUMN main.pipeline_as_of.left_censored IS 'Whether first_known_at is its feed''s first commit; it then says nothing about the deal.';
COMMENT ON COLUMN main.pipeline_as_of.days_listed IS 'Full days from first_known_at to the last observation; NULL if left-censored. Unit: days.';
COMMENT ON COLUMN main.pipeline_as_of.is_priced IS 'Whether the tranche has priced: by its status, or by the link to the priced deal.';
COMMENT ON COLUMN main.pipeline_as_of.priced_deal_id IS 'deal_id of the deal that priced. Bonds: from the tranche''s link. Loans: from the deal''s link.';
COMMENT ON COLUMN main.pipeline_as_of.priced_market IS 'Market of that deal, from the same link; mostly that of the row. NULL if the link does not lead to a priced deal of its service.';
COMMENT ON COLUMN main.pipeline_as_of.tranche_changed IS 'When the source last changed the tranche: what a timing such as "tomorrow" counts from.';
COMMENT ON COLUMN main.pipeline_as_of.sponsor_backed IS 'Whether a financial sponsor backs the borrower; NULL for bonds.';
