-- changes: Versions that became known between two instants, with the fields that changed.
-- as of: changes(TIMESTAMPTZ '2026-01-06', {as_of})
--
-- Definition: One row per version of a deal with known_at after "from" and not after "to". Neighbouring intervals
--   share no version and miss none.
-- Parameters: "from", "to": instants (TIMESTAMPTZ). There is no as_of, because "to" limits what is known.
-- Units: known_at is an instant.
-- Caveats: fields is NULL for added and removed versions. It is empty if only content outside all columns changed.
--   Of a list entry that was added or removed, it has only the table's name.
-- Example: What was added, changed and removed in the last seven days of the lake?
--   SELECT service, market, kind, change, reason, count(*) AS versions
--   FROM changes((SELECT max(known_at) - INTERVAL 7 DAYS FROM runs), (SELECT max(known_at) FROM runs))
--   GROUP BY ALL
--   ORDER BY ALL
CREATE MACRO main.changes("from", "to") AS TABLE
WITH found AS (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._version WHERE _valid_from > "from"::TIMESTAMPTZ AND _valid_from <= "to"::TIMESTAMPTZ)
), _changes AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._field_change
        WHERE _known_at > "from"::TIMESTAMPTZ AND _known_at <= "to"::TIMESTAMPTZ AND _table_name IS NOT NULL)
), field_lists AS (
  SELECT c.service, c.market, c.kind, c.deal_id, c.version,
         list_sort(list(DISTINCT concat_ws('.', c.table_name, c.field))) AS fields
  FROM _changes c
  GROUP BY ALL
)
SELECT v.service, v.market, v.kind, v.deal_id, v.change, v.reason, v.version, v.valid_from AS known_at,
       CASE WHEN v.change IN ('changed', 'reappeared') THEN coalesce(l.fields, []::VARCHAR[]) END AS fields
FROM found v
LEFT JOIN field_lists l USING (service, market, kind, deal_id, version)
ORDER BY known_at, v.service, v.market, v.kind, v.deal_id, v.version;
COMMENT ON MACRO TABLE main.changes IS 'Versions that became known after "from" and not after "to", with the fields that changed.';
