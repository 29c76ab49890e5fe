-- The current deals of all feeds.
CREATE VIEW main.deals AS
SELECT service, market, kind, deal_id, version, valid_from, first_known_at
FROM _dealflow.version_index
WHERE valid_to IS NULL AND change <> 'removed';
COMMENT ON VIEW main.deals IS 'The current deals of all feeds.';
COMMENT ON COLUMN main.deals.service IS 'bond or loan.';
COMMENT ON COLUMN main.deals.market IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.deals.kind IS 'priced or expected.';
COMMENT ON COLUMN main.deals.deal_id IS 'The source''s id of the deal; unique only within service, market and kind.';
COMMENT ON COLUMN main.deals.version IS 'The current version.';
COMMENT ON COLUMN main.deals.valid_from IS 'When that version became known.';
COMMENT ON COLUMN main.deals.first_known_at IS 'When the deal first became known.';
