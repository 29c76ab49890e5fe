-- The deals that changed after the instant "from" and not after "to" (TIMESTAMPTZ), each once, with its newest version as of "to".
CREATE MACRO main.changes_rows("from", "to") AS TABLE
WITH _versions AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._version
        WHERE _valid_from > "from"::TIMESTAMPTZ AND _valid_from <= "to"::TIMESTAMPTZ AND (_valid_to IS NULL OR _valid_to > "to"::TIMESTAMPTZ))
)
SELECT v.service, v.market, v.kind, v.deal_id, v.version, v.change, v.reason, v.valid_from AS known_at, r."commit"
FROM _versions v
JOIN main.runs r ON r.run_id = v.run_id;
COMMENT ON MACRO TABLE main.changes_rows IS 'The deals that changed after "from" and not after "to", each once, with its newest version as of "to".';
