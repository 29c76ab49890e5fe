-- Tables for the exports of dealflow, schema version 9, in clickhouse.
-- Keys only sort. Each statement is a transaction of its own: repeat a load that ended early. Files of a folder must be in user_files of the server.

CREATE TABLE bond_expected_changes (
  `market` String COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` Int64 COMMENT 'The source''s id of the deal.',
  `version` Int32 COMMENT 'Version of the deal.',
  `change` String COMMENT 'added, changed, removed or reappeared.',
  `reason` Nullable(String) COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  `known_at` DateTime64(6, 'UTC') COMMENT 'Instant at which the version became known.',
  `commit` Int64 COMMENT 'Number of the commit that added the version.'
)
ENGINE = MergeTree ORDER BY (`market`, `deal_id`, `version`)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE bond_expected_deletes AS bond_expected_changes;

CREATE TABLE bond_expected_deal_history (
  `market` String COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` Int64 COMMENT 'The source''s id of the deal; unique only within service, market and kind.',
  `version` Int32 COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  `ordinal` Int32 COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  `changed` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the entry was written.',
  `headline` Nullable(String) COMMENT 'Headline of the entry, free text.',
  `message` Nullable(String) COMMENT 'Message of the entry, free text.',
  `known_at` DateTime64(6, 'UTC') COMMENT 'Instant at which the version became known.',
  `commit` Int64 COMMENT 'Number of the commit that added the version.'
)
ENGINE = MergeTree ORDER BY (`market`, `deal_id`, `ordinal`)
COMMENT 'News about expected bond deals, one row per entry.';
CREATE TABLE bond_expected_deal_history_history AS bond_expected_deal_history;
CREATE TABLE bond_expected_deal_history_inserts AS bond_expected_deal_history;
CREATE VIEW bond_expected_deal_history_versions AS
SELECT h.`market`, h.`deal_id`, h.`version`, h.`ordinal`, h.`changed`, h.`headline`, h.`message`, h.`known_at`, h.`commit`, h.`known_at` AS valid_from, c.valid_to
FROM bond_expected_deal_history_history h
JOIN (
  SELECT `market`, `deal_id`, `version`, `change`,
    leadInFrame(toNullable(`known_at`)) OVER (PARTITION BY `market`, `deal_id` ORDER BY `version` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to
  FROM bond_expected_changes
) c ON c.`market` = h.`market` AND c.`deal_id` = h.`deal_id` AND c.`version` = h.`version`
WHERE c.`change` <> 'removed';

CREATE TABLE loan_priced_changes (
  `market` String COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` Int64 COMMENT 'The source''s id of the deal.',
  `version` Int32 COMMENT 'Version of the deal.',
  `change` String COMMENT 'added, changed, removed or reappeared.',
  `reason` Nullable(String) COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  `known_at` DateTime64(6, 'UTC') COMMENT 'Instant at which the version became known.',
  `commit` Int64 COMMENT 'Number of the commit that added the version.'
)
ENGINE = MergeTree ORDER BY (`market`, `deal_id`, `version`)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE loan_priced_deletes AS loan_priced_changes;

CREATE TABLE loan_priced_deal_total_currencies (
  `market` String COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` Int64 COMMENT 'The source''s id of the deal; unique only within service, market and kind.',
  `version` Int32 COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  `ordinal` Int32 COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  `amount` Nullable(Decimal(24, 6)) COMMENT 'Amount in the entry''s currency. Unit: units of the currency, scale as stated.',
  `currency` Nullable(String) COMMENT 'Currency code of the amounts, as written.',
  `known_at` DateTime64(6, 'UTC') COMMENT 'Instant at which the version became known.',
  `commit` Int64 COMMENT 'Number of the commit that added the version.'
)
ENGINE = MergeTree ORDER BY (`market`, `deal_id`, `ordinal`)
COMMENT 'Totals of priced loan deals by currency.';
CREATE TABLE loan_priced_deal_total_currencies_history AS loan_priced_deal_total_currencies;
CREATE TABLE loan_priced_deal_total_currencies_inserts AS loan_priced_deal_total_currencies;
CREATE VIEW loan_priced_deal_total_currencies_versions AS
SELECT h.`market`, h.`deal_id`, h.`version`, h.`ordinal`, h.`amount`, h.`currency`, h.`known_at`, h.`commit`, h.`known_at` AS valid_from, c.valid_to
FROM loan_priced_deal_total_currencies_history h
JOIN (
  SELECT `market`, `deal_id`, `version`, `change`,
    leadInFrame(toNullable(`known_at`)) OVER (PARTITION BY `market`, `deal_id` ORDER BY `version` ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to
  FROM loan_priced_changes
) c ON c.`market` = h.`market` AND c.`deal_id` = h.`deal_id` AND c.`version` = h.`version`
WHERE c.`change` <> 'removed';

-- Loads the changes after commit 41 up to commit 42.
-- Keys only sort. Each statement is a transaction of its own: repeat a load that ended early. Files of a folder must be in user_files of the server.
SET insert_deduplicate = 0;
DELETE FROM bond_expected_deletes WHERE true;
INSERT INTO bond_expected_deletes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM s3('s3://bucket/export/data/42/id/bond_expected.deletes/rows.parquet', 'Parquet');
DELETE FROM bond_expected_deal_history_inserts WHERE true;
INSERT INTO bond_expected_deal_history_inserts (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM s3('s3://bucket/export/data/42/id/bond_expected_deal_history.inserts/rows.parquet', 'Parquet');
DELETE FROM loan_priced_deletes WHERE true;
INSERT INTO loan_priced_deletes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM s3('s3://bucket/export/data/42/id/loan_priced.deletes/rows.parquet', 'Parquet');
DELETE FROM loan_priced_deal_total_currencies_inserts WHERE true;
INSERT INTO loan_priced_deal_total_currencies_inserts (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM s3('s3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/rows.parquet', 'Parquet');
DELETE FROM bond_expected_deal_history WHERE (`market`, `deal_id`) IN (SELECT `market`, `deal_id` FROM bond_expected_deletes);
INSERT INTO bond_expected_deal_history (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM bond_expected_deal_history_inserts;
DELETE FROM bond_expected_deal_history_history WHERE (`market`, `deal_id`, `version`, `ordinal`) IN (SELECT `market`, `deal_id`, `version`, `ordinal` FROM bond_expected_deal_history_inserts);
INSERT INTO bond_expected_deal_history_history (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM bond_expected_deal_history_inserts;
DELETE FROM loan_priced_deal_total_currencies WHERE true;
INSERT INTO loan_priced_deal_total_currencies (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM loan_priced_deal_total_currencies_inserts;
DELETE FROM loan_priced_deal_total_currencies_history WHERE (`market`, `deal_id`, `version`, `ordinal`) IN (SELECT `market`, `deal_id`, `version`, `ordinal` FROM loan_priced_deal_total_currencies_inserts);
INSERT INTO loan_priced_deal_total_currencies_history (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM loan_priced_deal_total_currencies_inserts;
DELETE FROM bond_expected_changes WHERE (`market`, `deal_id`, `version`) IN (SELECT `market`, `deal_id`, `version` FROM bond_expected_deletes);
INSERT INTO bond_expected_changes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM bond_expected_deletes;
DELETE FROM loan_priced_changes WHERE (`market`, `deal_id`, `version`) IN (SELECT `market`, `deal_id`, `version` FROM loan_priced_deletes);
INSERT INTO loan_priced_changes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM loan_priced_deletes;
INSERT INTO loan_priced_changes (`market`, `deal_id`, `version`, `change`, `known_at`, `commit`) SELECT DISTINCT i.`market`, i.`deal_id`, i.`version`, 'added', i.`known_at`, i.`commit` FROM loan_priced_deal_total_currencies_inserts i LEFT JOIN (SELECT `market`, `deal_id`, `version`, 1 AS kept FROM loan_priced_changes) c ON c.`market` = i.`market` AND c.`deal_id` = i.`deal_id` AND c.`version` = i.`version` WHERE COALESCE(c.kept, 0) = 0;

-- The lake's Iceberg tables in clickhouse. They are current until the lake publishes again.
CREATE DATABASE IF NOT EXISTS `current`;
CREATE TABLE `current`.`bond_priced_deals` ENGINE = IcebergS3('s3://bucket/deals/_dealflow/iceberg/current/bond_priced_deals');
