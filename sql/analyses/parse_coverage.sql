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
