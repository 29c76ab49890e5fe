-- The deals that changed after the instant "from" and not after "to" (TIMESTAMPTZ), each once, with its newest version as of "to".
CREATE MACRO main.changes_rows("from", "to") AS TABLE
SELECT v.service, v.market, v.kind, v.deal_id, v.version, v.change, v.reason, v.valid_from AS known_at, r."commit"
FROM _dealflow.versions_changed("from", "to") v
JOIN main.runs r ON r.run_id = v.run_id;
COMMENT ON MACRO TABLE main.changes_rows IS 'The deals that changed after "from" and not after "to", each once, with its newest version as of "to".';
