-- The deals that were current at the instant t (TIMESTAMPTZ), as known then.
CREATE MACRO main.deals_as_of(t) AS TABLE
SELECT service, market, kind, deal_id, version, valid_from, first_known_at
FROM _dealflow.version_index
WHERE valid_from <= t::TIMESTAMPTZ AND (valid_to IS NULL OR valid_to > t::TIMESTAMPTZ) AND change <> 'removed';
COMMENT ON MACRO TABLE main.deals_as_of IS 'The deals that were current at the instant t, as known then.';
