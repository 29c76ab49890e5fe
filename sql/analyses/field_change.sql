-- field_change: What changed from each version of a deal to the next, by column and list entry, and how late.
-- as of: field_change({as_of})
--
-- Definition: One row per version and column whose value differs from the previous version, in the deal's own
--   table and in those of its lists. Removals in between do not count.
--   - A list entry that was added or removed has one row, in which field is NULL.
--   - A version that changed only content outside all columns has one row, with change 'other'.
--   - A version of which a payload can no longer be read has one row, with change 'unreadable'.
--   - The first version of a deal has no row.
-- Parameters: as_of: only versions known at that instant (default: all).
-- Units: lag_days in days of 24 hours, with fractions. was and "is" are values as text, cut after 200 bytes.
-- Caveats: Three points need care:
--   - lag_days is NULL for deals of their feed's first commit.
--   - List entries are matched by row_key, a natural key: of all entries, only loan tranches have an id of the source.
--     So a renamed bank is one row removed and one row added.
--   - change_kind 'backfill' means that the source now fills a field which had no value in any deal of the feed before:
--     in one commit at least 20 of the deals that were known get a value, or more than one and half of the deals that
--     the feed then has. So are the first rows of a list that no deal of the feed had. Other changes of the same version
--     may be edits.
-- Example: Which fields of priced bond deals are edited most, and after how many days?
--   SELECT table_name, field, count(*) AS edits, median(lag_days) AS median_lag_days
--   FROM field_change
--   WHERE service = 'bond' AND kind = 'priced' AND change_kind = 'edit'
--   GROUP BY table_name, field
--   ORDER BY edits DESC, table_name, field
--   LIMIT 20
CREATE MACRO main.field_change(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _changes AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._field_change WHERE _known_at <= as_of::TIMESTAMPTZ)
)
SELECT c.service, c.market, c.kind, c.deal_id, c.version, c.known_at,
       CASE WHEN NOT v.left_censored THEN (epoch_us(c.known_at) - epoch_us(v.first_known_at)) / 86400e6 END AS lag_days,
       c.table_name, c.row_key, c.field, c.change, c.was, c."is", c.change_kind
FROM _changes c
JOIN _dealflow.version_index v USING (service, market, kind, deal_id, version);
COMMENT ON MACRO TABLE main.field_change IS 'What changed from each version of a deal to the next, as known at as_of.';

CREATE VIEW main.field_change AS FROM main.field_change();
COMMENT ON VIEW main.field_change IS 'What changed from each version of a deal to the next.';
COMMENT ON COLUMN main.field_change.service IS 'bond or loan.';
COMMENT ON COLUMN main.field_change.market IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.field_change.kind IS 'priced or expected.';
COMMENT ON COLUMN main.field_change.deal_id IS 'The source''s id of the deal; unique only within service, market and kind.';
COMMENT ON COLUMN main.field_change.version IS 'The version that has the change.';
COMMENT ON COLUMN main.field_change.known_at IS 'When that version became known.';
COMMENT ON COLUMN main.field_change.lag_days IS 'Time from the instant at which the deal first became known; NULL if that was its feed''s first commit. Unit: days.';
COMMENT ON COLUMN main.field_change.table_name IS 'Table of the column; NULL if the change is outside all columns.';
COMMENT ON COLUMN main.field_change.row_key IS 'Natural key of the list entry; NULL for the deal''s own row.';
COMMENT ON COLUMN main.field_change.field IS 'The column; NULL if a row was added or removed, or if the change is outside all columns.';
COMMENT ON COLUMN main.field_change.change IS 'set (it was NULL), cleared (it is NULL), edited, row added, row removed, other or unreadable.';
COMMENT ON COLUMN main.field_change.was IS 'The value before, as text; all values of a removed row.';
COMMENT ON COLUMN main.field_change."is" IS 'The value after, as text; all values of an added row.';
COMMENT ON COLUMN main.field_change.change_kind IS 'edit; backfill if the source now fills, in many deals at once, a field that no deal of the feed had before; other outside all columns.';
