-- pipeline_as_of: The pipeline of expected deals as it was known at an instant, one row per tranche, bonds and loans alike.
-- as of: pipeline_as_of({as_of})
--
-- Definition: all tranches of the expected deals that stood at as_of; a deal without tranches has one row, in which the
--   tranche's columns are NULL. tranche_uid tells tranches of a deal apart and stays the same from version to version.
--   price is the bond's latest price talk or the loan's margin as text; the numbers beside it are what was read of it.
--   borrower is the canonical name on the day the version became known. days_listed counts whole days from
--   first_known_at to the last instant at which the lake observed the source.
-- Parameters: as_of: the instant (default: the newest state).
-- Units: volume_amount, volume_lo, volume_hi in units of volume_currency; price_lo_bp, price_hi_bp in basis points over
--   price_benchmark; price_yield_lo_pct, price_yield_hi_pct in percent; days_listed in days.
-- Caveats: a deal stays listed for a while after it has priced: WHERE NOT is_priced gives what is still to come. The
--   status of a loan's tranche is free text: 'Priced' counts in any case, other spellings do not. days_listed is NULL for
--   deals that were there when their feed was first read: how long they had been listed nobody saw.
-- Example: What is still to come, and how long has it been waiting?
--   SELECT service, market, count(*) AS tranches, count(volume_lo) AS with_volume,
--          count(days_listed) AS with_days, median(days_listed) AS median_days_listed
--   FROM pipeline_as_of
--   WHERE NOT is_priced
--   GROUP BY service, market
--   ORDER BY service, market
CREATE MACRO main.pipeline_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
SELECT d.service, d.market, d.deal_id, l.tranche_uid, d.ordinal,
       d.borrower_name, coalesce(a.canonical, _dealflow.normal_name(d.borrower_name)) AS borrower, d.headline, d.stage,
       d.name AS tranche_name, d.status, d.currency, d.structure, d.type,
       d.volume, d.volume_amount, d.volume_lo, d.volume_hi, d.volume_currency, d.volume_status,
       d.price, d.price_benchmark, d.price_lo_bp, d.price_hi_bp, d.price_yield_lo_pct, d.price_yield_hi_pct,
       d.oid, d.price_status, d.timing, d.created, d.first_known_at, d.left_censored,
       CASE WHEN NOT d.left_censored
            THEN (epoch_us(o.known_at) - epoch_us(d.first_known_at)) // 86400000000 END AS days_listed,
       _dealflow.is_priced(d.service, d.status, d.priced_deal_id) AS is_priced,
       d.priced_deal_id
FROM _dealflow.pipeline_tranches(as_of) d
LEFT JOIN _dealflow.observed(as_of) o ON o.service = d.service AND o.market = d.market AND o.kind = 'expected'
LEFT JOIN _dealflow.tranche_lineage l
  ON l.service = d.service AND l.market = d.market AND l.deal_id = d.deal_id AND l.version = d.version AND l.ordinal = d.ordinal
LEFT JOIN _dealflow.borrower_name a
  ON a.alias = _dealflow.normal_name(d.borrower_name)
 AND a.valid_from <= main.utc_day(d.valid_from) AND a.valid_to > main.utc_day(d.valid_from)
ORDER BY d.service, d.market, d.deal_id, d.ordinal;
COMMENT ON MACRO TABLE main.pipeline_as_of IS 'The pipeline of expected deals as it was known at as_of, one row per tranche.';

CREATE VIEW main.pipeline_as_of AS FROM main.pipeline_as_of();
COMMENT ON VIEW main.pipeline_as_of IS 'The pipeline of expected deals as of now, one row per tranche.';
COMMENT ON COLUMN main.pipeline_as_of.service IS 'bond or loan.';
COMMENT ON COLUMN main.pipeline_as_of.market IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.pipeline_as_of.deal_id IS 'The source''s id of the expected deal; unique only within service and market.';
COMMENT ON COLUMN main.pipeline_as_of.tranche_uid IS 'Which tranche of the deal; the same from version to version.';
COMMENT ON COLUMN main.pipeline_as_of.ordinal IS 'Place of the tranche in the deal''s list, from 1; NULL for a deal without tranches.';
COMMENT ON COLUMN main.pipeline_as_of.borrower_name IS 'Name of the borrower or issuer as the source spells it.';
COMMENT ON COLUMN main.pipeline_as_of.borrower IS 'Its canonical name: of the alias table, or else the name in normal form.';
COMMENT ON COLUMN main.pipeline_as_of.headline IS 'The newest headline, free text.';
COMMENT ON COLUMN main.pipeline_as_of.stage IS 'Stage of a loan, free text; NULL for bonds.';
COMMENT ON COLUMN main.pipeline_as_of.tranche_name IS 'Name of the tranche; neither unique nor stable.';
COMMENT ON COLUMN main.pipeline_as_of.status IS 'Status of the tranche: EXPECTED, TO_BE_INCREASED, INCREASED or PRICED of bonds, free text of loans.';
COMMENT ON COLUMN main.pipeline_as_of.currency IS 'Currency code as written.';
COMMENT ON COLUMN main.pipeline_as_of.structure IS 'Structure of a bond, free text such as 8NC3; NULL for loans.';
COMMENT ON COLUMN main.pipeline_as_of.type IS 'Short form of a loan''s type, free text such as TLB; NULL for bonds.';
COMMENT ON COLUMN main.pipeline_as_of.volume IS 'Size, free text.';
COMMENT ON COLUMN main.pipeline_as_of.volume_amount IS 'The size, where it is one number. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_as_of.volume_lo IS 'The size''s lower end or minimum; the size itself where it is one number. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_as_of.volume_hi IS 'The size''s upper end or maximum; the size itself where it is one number. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_as_of.volume_currency IS 'The currency that the text names, or else the currency column''s.';
COMMENT ON COLUMN main.pipeline_as_of.volume_status IS 'How the text of volume was read: OK, RANGE, VERBAL, NO_NUMBER, AMBIGUOUS or UNPARSED.';
COMMENT ON COLUMN main.pipeline_as_of.price IS 'Latest price talk of a bond, margin of a loan; free text.';
COMMENT ON COLUMN main.pipeline_as_of.price_benchmark IS 'What the spread or margin is over.';
COMMENT ON COLUMN main.pipeline_as_of.price_lo_bp IS 'The spread''s or margin''s lower end; itself where it is one number. Unit: basis points.';
COMMENT ON COLUMN main.pipeline_as_of.price_hi_bp IS 'The spread''s or margin''s upper end; itself where it is one number. Unit: basis points.';
COMMENT ON COLUMN main.pipeline_as_of.price_yield_lo_pct IS 'The yield''s lower end of a bond that is talked in yield; NULL for loans. Unit: percent.';
COMMENT ON COLUMN main.pipeline_as_of.price_yield_hi_pct IS 'The yield''s upper end of a bond that is talked in yield; NULL for loans. Unit: percent.';
COMMENT ON COLUMN main.pipeline_as_of.oid IS 'Original issue discount of a loan as a price, free text; NULL for bonds.';
COMMENT ON COLUMN main.pipeline_as_of.price_status IS 'How the text of price was read: OK, OK_YIELD, RANGE, VERBAL, NO_NUMBER, AMBIGUOUS or UNPARSED.';
COMMENT ON COLUMN main.pipeline_as_of.timing IS 'Timing, free text.';
COMMENT ON COLUMN main.pipeline_as_of.created IS 'When the source created the deal.';
COMMENT ON COLUMN main.pipeline_as_of.first_known_at IS 'When the deal first became known.';
COMMENT ON COLUMN main.pipeline_as_of.left_censored IS 'Whether that was its feed''s first commit: then it says nothing of the deal.';
COMMENT ON COLUMN main.pipeline_as_of.days_listed IS 'Whole days from first_known_at to the last observation; NULL where left-censored. Unit: days.';
COMMENT ON COLUMN main.pipeline_as_of.is_priced IS 'Whether the tranche has priced: by its status, or by the link to the priced deal.';
COMMENT ON COLUMN main.pipeline_as_of.priced_deal_id IS 'deal_id of the priced deal that came of it: the tranche''s link of bonds, the deal''s of loans.';
