-- The deals that were current at the instant t (TIMESTAMPTZ), as known then.
CREATE MACRO main.deals_as_of(t) AS TABLE
SELECT service, market, kind, deal_id, version, valid_from, first_known_at
FROM _dealflow.versions_at(t)
WHERE change <> 'removed';
COMMENT ON MACRO TABLE main.deals_as_of IS 'The deals that were current at the instant t, as known then.';
