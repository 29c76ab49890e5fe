-- field_change: What changed from each version of a deal to the next, column by column and row by row, and how late.
-- as of: field_change({as_of})
--
-- Definition: one row per version and column whose value differs from the version before (removals between them do not
--   count), in the deal's own table and in its child tables; one row per child row that came or went (field is NULL).
--   A version that differs in no column has one row with change 'other': what changed lies outside all columns. The
--   first version of a deal changes nothing.
-- Parameters: as_of: only versions known at that instant (default: all).
-- Units: lag_days in days of 24 hours, fractions included; was and "is" are the values as text, cut after 200 bytes.
-- Caveats: lag_days is NULL for deals that were there when their feed was first read. Child rows are held together by
--   row_key, which is a natural key and no id of the source (but for loan tranches): a renamed bank is one row removed
--   and one added. 'backfill' is a version in which the source only began to say what it had said
--   of no deal of the feed before; in a small feed the first value ever of a rare field is one, too. 'unreadable' is a
--   version one of whose payloads can no longer be read.
-- Example: Which fields of priced bond deals are edited most, and how late in the middle?
--   SELECT table_name, field, count(*) AS edits, median(lag_days) AS median_lag_days
--   FROM field_change
--   WHERE service = 'bond' AND kind = 'priced' AND change_kind = 'edit'
--   GROUP BY table_name, field
--   ORDER BY edits DESC, table_name, field
--   LIMIT 20
CREATE MACRO main.field_change(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
SELECT c.service, c.market, c.kind, c.deal_id, c.version, c.known_at,
       CASE WHEN NOT v.left_censored THEN (epoch_us(c.known_at) - epoch_us(v.first_known_at)) / 86400e6 END AS lag_days,
       c.table_name, c.row_key, c.field, c.change, c.was, c."is", c.change_kind
FROM _dealflow.field_change c
JOIN _dealflow.version_index v USING (service, market, kind, deal_id, version)
WHERE c.known_at <= as_of::TIMESTAMPTZ;
COMMENT ON MACRO TABLE main.field_change IS 'What changed from each version of a deal to the next, as far as was known at as_of.';

CREATE VIEW main.field_change AS FROM main.field_change();
COMMENT ON VIEW main.field_change IS 'What changed from each version of a deal to the next.';
COMMENT ON COLUMN main.field_change.service IS 'bond or loan.';
COMMENT ON COLUMN main.field_change.market IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.field_change.kind IS 'priced or expected.';
COMMENT ON COLUMN main.field_change.deal_id IS 'The source''s id of the deal; unique only within service, market and kind.';
COMMENT ON COLUMN main.field_change.version IS 'The version that brought the change.';
COMMENT ON COLUMN main.field_change.known_at IS 'When that version became known.';
COMMENT ON COLUMN main.field_change.lag_days IS 'Days from when the deal first became known; NULL where that was its feed''s first commit. Unit: days.';
COMMENT ON COLUMN main.field_change.table_name IS 'The table with the column; NULL where the change lies outside all columns.';
COMMENT ON COLUMN main.field_change.row_key IS 'Which child row; NULL for the deal''s own row.';
COMMENT ON COLUMN main.field_change.field IS 'The column; NULL where a whole row came or went, or the change lies outside all columns.';
COMMENT ON COLUMN main.field_change.change IS 'set (it was NULL), cleared (it is NULL), edited, row added, row removed, or other.';
COMMENT ON COLUMN main.field_change.was IS 'The value before, as text; of a removed row all values.';
COMMENT ON COLUMN main.field_change."is" IS 'The value after, as text; of an added row all values.';
COMMENT ON COLUMN main.field_change.change_kind IS 'edit; backfill where the source began to say what it had said of no deal before; other outside all columns.';
