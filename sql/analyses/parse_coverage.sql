-- Whether a text was not read, by its status.
CREATE MACRO _dealflow.is_unread(status) AS coalesce(status IN ('UNPARSED', 'AMBIGUOUS'), false);

-- One text column of a group of rows: how many texts have each status; and the lowest deal_ids, at most five, of those that were
-- not read, if with_unread says so.
CREATE MACRO _dealflow.texts_of(field, status, deal_id, with_unread) AS {
  field: field, texts: histogram(status),
  unread: min(DISTINCT deal_id, 5) FILTER (with_unread AND _dealflow.is_unread(status))};

-- The same for texts that were written before there was their parser: their status is an empty text.
CREATE MACRO _dealflow.older_texts_of(field, text, status) AS {
  field: field, texts: histogram(CASE WHEN text IS NOT NULL AND status IS NULL THEN '' END), unread: NULL::BIGINT[]};

-- The number of texts of some statuses.
CREATE MACRO _dealflow.texts_with(texts, is_counted) AS coalesce(sum(texts) FILTER (is_counted), 0)::BIGINT;

-- What the parsers read in the texts, as known at an instant: one row per market, text column, year, version of the parsers and
-- status, with the number of texts that are not NULL, and unread of texts_of for all statuses of them. A text column that gets a
-- parser gets its two lines here. The year is that of pricing; for an expected deal, that of known_at.
-- Each text in a newer file has a status. So only in older files, in the second half, the texts themselves are read, to see which
-- are NULL: from all files that takes half as long again.
CREATE MACRO _dealflow.texts_read(instant, with_unread) AS TABLE
WITH counted AS (
  SELECT 'bond' AS service, t.market, 'priced' AS kind, 'bond_priced_deals' AS table_name,
         year(t.pricing_date) AS year, t.parser_version, unnest([
           _dealflow.texts_of('pricing_time', t.pricing_time_status, t.deal_id, with_unread),
           _dealflow.texts_of('cpn', t.cpn_status, t.deal_id, with_unread),
           _dealflow.texts_of('non_bullet', t.non_bullet_status, t.deal_id, with_unread),
           _dealflow.texts_of('spread', t.spread_status, t.deal_id, with_unread),
           _dealflow.texts_of('yield', t.yield_status, t.deal_id, with_unread),
           _dealflow.texts_of('gov', t.gov_status, t.deal_id, with_unread),
           _dealflow.texts_of('nip', t.nip_status, t.deal_id, with_unread),
           _dealflow.texts_of('swap', t.swap_status, t.deal_id, with_unread),
           _dealflow.texts_of('premium_nip', t.premium_nip_status, t.deal_id, with_unread),
           _dealflow.texts_of('rating_moodys', t.rating_moodys_status, t.deal_id, with_unread),
           _dealflow.texts_of('rating_standard_and_poors', t.rating_standard_and_poors_status, t.deal_id, with_unread),
           _dealflow.texts_of('rating_fitch', t.rating_fitch_status, t.deal_id, with_unread)]) AS column_read
  FROM main.bond_priced_deals_as_of(instant) t
  GROUP BY t.market, year(t.pricing_date), t.parser_version
  UNION ALL
  SELECT 'bond' AS service, t.market, 'priced' AS kind, 'bond_priced_price_evolution' AS table_name,
         year(d.pricing_date) AS year, t.parser_version, unnest([
           _dealflow.texts_of('value', t.value_status, t.deal_id, with_unread)]) AS column_read
  FROM main.bond_priced_price_evolution_as_of(instant) t
  JOIN (SELECT market, deal_id, version, pricing_date FROM _dealflow.history_bond_priced_deals) d
    ON d.market = t.market AND d.deal_id = t.deal_id AND d.version = t.version
  GROUP BY t.market, year(d.pricing_date), t.parser_version
  UNION ALL
  SELECT 'bond' AS service, t.market, 'expected' AS kind, 'bond_expected_tranches' AS table_name,
         year(main.utc_day(t.known_at)) AS year, t.parser_version, unnest([
           _dealflow.texts_of('volume', t.volume_status, t.deal_id, with_unread),
           _dealflow.texts_of('structure', t.structure_status, t.deal_id, with_unread),
           _dealflow.texts_of('price_evolution', t.price_evolution_status, t.deal_id, with_unread),
           _dealflow.texts_of('books', t.books_status, t.deal_id, with_unread),
           _dealflow.texts_of('ratings_moodys', t.ratings_moodys_status, t.deal_id, with_unread),
           _dealflow.texts_of('ratings_standard_and_poors', t.ratings_standard_and_poors_status, t.deal_id, with_unread),
           _dealflow.texts_of('ratings_fitch', t.ratings_fitch_status, t.deal_id, with_unread)]) AS column_read
  FROM main.bond_expected_tranches_as_of(instant) t
  GROUP BY t.market, year(main.utc_day(t.known_at)), t.parser_version
  UNION ALL
  SELECT 'loan' AS service, t.market, 'priced' AS kind, 'loan_priced_deals' AS table_name,
         year(t.priced_date) AS year, t.parser_version, unnest([
           _dealflow.texts_of('borrower_leveraged_multiple', t.borrower_leveraged_multiple_status, t.deal_id, with_unread),
           _dealflow.texts_of('borrower_ratings_moodys', t.borrower_ratings_moodys_status, t.deal_id, with_unread),
           _dealflow.texts_of('borrower_ratings_standard_and_poors', t.borrower_ratings_standard_and_poors_status, t.deal_id, with_unread),
           _dealflow.texts_of('borrower_ratings_fitch', t.borrower_ratings_fitch_status, t.deal_id, with_unread)]) AS column_read
  FROM main.loan_priced_deals_as_of(instant) t
  GROUP BY t.market, year(t.priced_date), t.parser_version
  UNION ALL
  SELECT 'loan' AS service, t.market, 'priced' AS kind, 'loan_priced_tranches' AS table_name,
         year(d.priced_date) AS year, t.parser_version, unnest([
           _dealflow.texts_of('maturity', t.maturity_status, t.deal_id, with_unread),
           _dealflow.texts_of('margin', t.margin_status, t.deal_id, with_unread),
           _dealflow.texts_of('oid', t.oid_status, t.deal_id, with_unread),
           _dealflow.texts_of('rating_moodys', t.rating_moodys_status, t.deal_id, with_unread),
           _dealflow.texts_of('rating_standard_and_poors', t.rating_standard_and_poors_status, t.deal_id, with_unread),
           _dealflow.texts_of('rating_fitch', t.rating_fitch_status, t.deal_id, with_unread)]) AS column_read
  FROM main.loan_priced_tranches_as_of(instant) t
  JOIN (SELECT market, deal_id, version, priced_date FROM _dealflow.history_loan_priced_deals) d
    ON d.market = t.market AND d.deal_id = t.deal_id AND d.version = t.version
  GROUP BY t.market, year(d.priced_date), t.parser_version
  UNION ALL
  SELECT 'loan' AS service, t.market, 'expected' AS kind, 'loan_expected_tranches' AS table_name,
         year(main.utc_day(t.known_at)) AS year, t.parser_version, unnest([
           _dealflow.texts_of('volume', t.volume_status, t.deal_id, with_unread),
           _dealflow.texts_of('maturity', t.maturity_status, t.deal_id, with_unread),
           _dealflow.texts_of('margin', t.margin_status, t.deal_id, with_unread),
           _dealflow.texts_of('oid', t.oid_status, t.deal_id, with_unread)]) AS column_read
  FROM main.loan_expected_tranches_as_of(instant) t
  GROUP BY t.market, year(main.utc_day(t.known_at)), t.parser_version
  UNION ALL
  SELECT 'bond' AS service, t.market, 'priced' AS kind, 'bond_priced_deals' AS table_name,
         year(t.pricing_date) AS year, t.parser_version, unnest([
           _dealflow.older_texts_of('pricing_time', t.pricing_time, t.pricing_time_status),
           _dealflow.older_texts_of('cpn', t.cpn, t.cpn_status),
           _dealflow.older_texts_of('non_bullet', t.non_bullet, t.non_bullet_status),
           _dealflow.older_texts_of('spread', t.spread, t.spread_status),
           _dealflow.older_texts_of('yield', t.yield, t.yield_status),
           _dealflow.older_texts_of('gov', t.gov, t.gov_status),
           _dealflow.older_texts_of('nip', t.nip, t.nip_status),
           _dealflow.older_texts_of('swap', t.swap, t.swap_status),
           _dealflow.older_texts_of('premium_nip', t.premium_nip, t.premium_nip_status),
           _dealflow.older_texts_of('rating_moodys', t.rating_moodys, t.rating_moodys_status),
           _dealflow.older_texts_of('rating_standard_and_poors', t.rating_standard_and_poors, t.rating_standard_and_poors_status),
           _dealflow.older_texts_of('rating_fitch', t.rating_fitch, t.rating_fitch_status)]) AS column_read
  FROM _dealflow.older_bond_priced_deals t JOIN main.deals_as_of(instant) v USING (market, deal_id, version)
  WHERE v.service = 'bond' AND v.kind = 'priced'
  GROUP BY t.market, year(t.pricing_date), t.parser_version
  UNION ALL
  SELECT 'bond' AS service, t.market, 'priced' AS kind, 'bond_priced_price_evolution' AS table_name,
         year(d.pricing_date) AS year, t.parser_version, unnest([
           _dealflow.older_texts_of('value', t.value, t.value_status)]) AS column_read
  FROM _dealflow.older_bond_priced_price_evolution t JOIN main.deals_as_of(instant) v USING (market, deal_id, version)
  JOIN (SELECT market, deal_id, version, pricing_date FROM _dealflow.history_bond_priced_deals) d
    ON d.market = t.market AND d.deal_id = t.deal_id AND d.version = t.version
  WHERE v.service = 'bond' AND v.kind = 'priced'
  GROUP BY t.market, year(d.pricing_date), t.parser_version
  UNION ALL
  SELECT 'bond' AS service, t.market, 'expected' AS kind, 'bond_expected_tranches' AS table_name,
         year(main.utc_day(v.valid_from)) AS year, t.parser_version, unnest([
           _dealflow.older_texts_of('volume', t.volume, t.volume_status),
           _dealflow.older_texts_of('structure', t.structure, t.structure_status),
           _dealflow.older_texts_of('price_evolution', t.price_evolution, t.price_evolution_status),
           _dealflow.older_texts_of('books', t.books, t.books_status),
           _dealflow.older_texts_of('ratings_moodys', t.ratings_moodys, t.ratings_moodys_status),
           _dealflow.older_texts_of('ratings_standard_and_poors', t.ratings_standard_and_poors, t.ratings_standard_and_poors_status),
           _dealflow.older_texts_of('ratings_fitch', t.ratings_fitch, t.ratings_fitch_status)]) AS column_read
  FROM _dealflow.older_bond_expected_tranches t JOIN main.deals_as_of(instant) v USING (market, deal_id, version)
  WHERE v.service = 'bond' AND v.kind = 'expected'
  GROUP BY t.market, year(main.utc_day(v.valid_from)), t.parser_version
  UNION ALL
  SELECT 'loan' AS service, t.market, 'priced' AS kind, 'loan_priced_deals' AS table_name,
         year(t.priced_date) AS year, t.parser_version, unnest([
           _dealflow.older_texts_of('borrower_leveraged_multiple', t.borrower_leveraged_multiple, t.borrower_leveraged_multiple_status),
           _dealflow.older_texts_of('borrower_ratings_moodys', t.borrower_ratings_moodys, t.borrower_ratings_moodys_status),
           _dealflow.older_texts_of('borrower_ratings_standard_and_poors', t.borrower_ratings_standard_and_poors, t.borrower_ratings_standard_and_poors_status),
           _dealflow.older_texts_of('borrower_ratings_fitch', t.borrower_ratings_fitch, t.borrower_ratings_fitch_status)]) AS column_read
  FROM _dealflow.older_loan_priced_deals t JOIN main.deals_as_of(instant) v USING (market, deal_id, version)
  WHERE v.service = 'loan' AND v.kind = 'priced'
  GROUP BY t.market, year(t.priced_date), t.parser_version
  UNION ALL
  SELECT 'loan' AS service, t.market, 'priced' AS kind, 'loan_priced_tranches' AS table_name,
         year(d.priced_date) AS year, t.parser_version, unnest([
           _dealflow.older_texts_of('maturity', t.maturity, t.maturity_status),
           _dealflow.older_texts_of('margin', t.margin, t.margin_status),
           _dealflow.older_texts_of('oid', t.oid, t.oid_status),
           _dealflow.older_texts_of('rating_moodys', t.rating_moodys, t.rating_moodys_status),
           _dealflow.older_texts_of('rating_standard_and_poors', t.rating_standard_and_poors, t.rating_standard_and_poors_status),
           _dealflow.older_texts_of('rating_fitch', t.rating_fitch, t.rating_fitch_status)]) AS column_read
  FROM _dealflow.older_loan_priced_tranches t JOIN main.deals_as_of(instant) v USING (market, deal_id, version)
  JOIN (SELECT market, deal_id, version, priced_date FROM _dealflow.history_loan_priced_deals) d
    ON d.market = t.market AND d.deal_id = t.deal_id AND d.version = t.version
  WHERE v.service = 'loan' AND v.kind = 'priced'
  GROUP BY t.market, year(d.priced_date), t.parser_version
  UNION ALL
  SELECT 'loan' AS service, t.market, 'expected' AS kind, 'loan_expected_tranches' AS table_name,
         year(main.utc_day(v.valid_from)) AS year, t.parser_version, unnest([
           _dealflow.older_texts_of('volume', t.volume, t.volume_status),
           _dealflow.older_texts_of('maturity', t.maturity, t.maturity_status),
           _dealflow.older_texts_of('margin', t.margin, t.margin_status),
           _dealflow.older_texts_of('oid', t.oid, t.oid_status)]) AS column_read
  FROM _dealflow.older_loan_expected_tranches t JOIN main.deals_as_of(instant) v USING (market, deal_id, version)
  WHERE v.service = 'loan' AND v.kind = 'expected'
  GROUP BY t.market, year(main.utc_day(v.valid_from)), t.parser_version
)
SELECT service, market, kind, table_name, column_read.field AS field, year, parser_version,
       read.key AS status, read.value AS texts, column_read.unread AS unread
FROM (SELECT *, unnest(map_entries(column_read.texts)) AS read FROM counted);

-- parse_coverage: How many texts the parsers could read, by table, column and year.
-- as of: parse_coverage({as_of})
--
-- Definition: One row per market, text column, year and version of the parsers.
--   - year: for priced deals the year of pricing, for expected deals that of the version's known_at.
--   - texts: number of texts that are not NULL. The columns after it count them by status; ok is OK and OK_YIELD.
--   - parsed_share: (ok + range) ÷ (texts − no_number). That is the share read as a number or a range, of the texts
--     that should give one.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Texts; a share from 0 to 1.
-- Caveats: parser_version is NULL for rows that were written before there were parsers. dealflow replay reads
--   their texts.
-- Example: Of which columns could the smallest share be read?
--   SELECT table_name, field, sum(texts) AS texts, sum(unparsed) AS unparsed,
--          round(sum(ok + range) / nullif(sum(texts - no_number), 0), 3) AS parsed_share
--   FROM parse_coverage GROUP BY table_name, field ORDER BY parsed_share, table_name, field
CREATE MACRO main.parse_coverage(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH counts AS (
  SELECT service, market, table_name, field, year, parser_version, sum(texts)::BIGINT AS texts,
         _dealflow.texts_with(texts, status IN ('OK', 'OK_YIELD')) AS ok,
         _dealflow.texts_with(texts, status = 'RANGE') AS range,
         _dealflow.texts_with(texts, status = 'VERBAL') AS verbal,
         _dealflow.texts_with(texts, status = 'NO_NUMBER') AS no_number,
         _dealflow.texts_with(texts, status = 'AMBIGUOUS') AS ambiguous,
         _dealflow.texts_with(texts, status = 'UNPARSED') AS unparsed
  FROM _dealflow.texts_read(as_of, false)
  GROUP BY service, market, table_name, field, year, parser_version
)
SELECT service, market, table_name, field, year, texts, ok, range, verbal, no_number, ambiguous, unparsed,
       (ok + range) / nullif(texts - no_number, 0) AS parsed_share, parser_version
FROM counts
ORDER BY service, market, table_name, field, year, parser_version;
COMMENT ON MACRO TABLE main.parse_coverage IS 'How many texts the parsers could read, by table, column and year.';

CREATE VIEW main.parse_coverage AS FROM main.parse_coverage();
COMMENT ON VIEW main.parse_coverage IS 'How many texts the parsers could read, by table, column and year. As of now.';
COMMENT ON COLUMN main.parse_coverage.service IS 'bond or loan.';
COMMENT ON COLUMN main.parse_coverage.market IS 'IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.parse_coverage.table_name IS 'The table with the text.';
COMMENT ON COLUMN main.parse_coverage.field IS 'The text column.';
COMMENT ON COLUMN main.parse_coverage.year IS 'Year of pricing; for expected deals, the year in which the version became known.';
COMMENT ON COLUMN main.parse_coverage.texts IS 'Number of texts: values that are not NULL.';
COMMENT ON COLUMN main.parse_coverage.ok IS 'Number of texts read as one number, or completely.';
COMMENT ON COLUMN main.parse_coverage.range IS 'Number of texts read as a range.';
COMMENT ON COLUMN main.parse_coverage.verbal IS 'Number of texts with words instead of a number.';
COMMENT ON COLUMN main.parse_coverage.no_number IS 'Number of texts that say that there is no number, or none yet.';
COMMENT ON COLUMN main.parse_coverage.ambiguous IS 'Number of texts that can be read in more than one way.';
COMMENT ON COLUMN main.parse_coverage.unparsed IS 'Number of texts that could not be read.';
COMMENT ON COLUMN main.parse_coverage.parsed_share IS 'Share of texts read as a number or a range, of those that should give one; from 0 to 1.';
COMMENT ON COLUMN main.parse_coverage.parser_version IS 'Version of the parsers that read the texts; NULL if none did.';
