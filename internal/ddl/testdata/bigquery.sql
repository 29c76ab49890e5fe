-- Tables for the exports of dealflow, schema version 9, in bigquery.
-- NUMERIC has nine digits after the point, so exchange rates, DECIMAL(20,10), are BIGNUMERIC. LOAD DATA reads gs:// only, or s3:// through BigQuery Omni.

CREATE TABLE bond_expected_changes (
  `market` STRING NOT NULL OPTIONS (description = 'Market of the feed: IG, HY, EM, LL, CF or AF.'),
  `deal_id` INT64 NOT NULL OPTIONS (description = 'The source\'s id of the deal.'),
  `version` INT64 NOT NULL OPTIONS (description = 'Version of the deal.'),
  `change` STRING NOT NULL OPTIONS (description = 'added, changed, removed or reappeared.'),
  `reason` STRING OPTIONS (description = 'Why the deal was removed: gone, priced or out_of_entitlement.'),
  `known_at` TIMESTAMP NOT NULL OPTIONS (description = 'Instant at which the version became known.'),
  `commit` INT64 NOT NULL OPTIONS (description = 'Number of the commit that added the version.'),
  PRIMARY KEY (`market`, `deal_id`, `version`) NOT ENFORCED
)
OPTIONS (description = 'Versions of deals that exports have brought.');
CREATE TABLE bond_expected_deletes AS SELECT * FROM bond_expected_changes WHERE false;

CREATE TABLE bond_expected_deal_history (
  `market` STRING NOT NULL OPTIONS (description = 'Market of the feed: IG, HY, EM, LL, CF or AF.'),
  `deal_id` INT64 NOT NULL OPTIONS (description = 'The source\'s id of the deal; unique only within service, market and kind.'),
  `version` INT64 NOT NULL OPTIONS (description = 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.'),
  `ordinal` INT64 NOT NULL OPTIONS (description = 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.'),
  `changed` TIMESTAMP OPTIONS (description = 'When the entry was written.'),
  `headline` STRING OPTIONS (description = 'Headline of the entry, free text.'),
  `message` STRING OPTIONS (description = 'Message of the entry, free text.'),
  `known_at` TIMESTAMP NOT NULL OPTIONS (description = 'Instant at which the version became known.'),
  `commit` INT64 NOT NULL OPTIONS (description = 'Number of the commit that added the version.'),
  PRIMARY KEY (`market`, `deal_id`, `ordinal`) NOT ENFORCED
)
OPTIONS (description = 'News about expected bond deals, one row per entry.');
CREATE TABLE bond_expected_deal_history_history AS SELECT * FROM bond_expected_deal_history WHERE false;
CREATE TABLE bond_expected_deal_history_inserts AS SELECT * FROM bond_expected_deal_history WHERE false;
CREATE VIEW bond_expected_deal_history_versions AS
SELECT h.`market`, h.`deal_id`, h.`version`, h.`ordinal`, h.`changed`, h.`headline`, h.`message`, h.`known_at`, h.`commit`, h.`known_at` AS valid_from, c.valid_to
FROM bond_expected_deal_history_history h
JOIN (
  SELECT `market`, `deal_id`, `version`, `change`,
    LEAD(`known_at`) OVER (PARTITION BY `market`, `deal_id` ORDER BY `version`) AS valid_to
  FROM bond_expected_changes
) c ON c.`market` = h.`market` AND c.`deal_id` = h.`deal_id` AND c.`version` = h.`version`
WHERE c.`change` <> 'removed';

CREATE TABLE loan_priced_changes (
  `market` STRING NOT NULL OPTIONS (description = 'Market of the feed: IG, HY, EM, LL, CF or AF.'),
  `deal_id` INT64 NOT NULL OPTIONS (description = 'The source\'s id of the deal.'),
  `version` INT64 NOT NULL OPTIONS (description = 'Version of the deal.'),
  `change` STRING NOT NULL OPTIONS (description = 'added, changed, removed or reappeared.'),
  `reason` STRING OPTIONS (description = 'Why the deal was removed: gone, priced or out_of_entitlement.'),
  `known_at` TIMESTAMP NOT NULL OPTIONS (description = 'Instant at which the version became known.'),
  `commit` INT64 NOT NULL OPTIONS (description = 'Number of the commit that added the version.'),
  PRIMARY KEY (`market`, `deal_id`, `version`) NOT ENFORCED
)
OPTIONS (description = 'Versions of deals that exports have brought.');
CREATE TABLE loan_priced_deletes AS SELECT * FROM loan_priced_changes WHERE false;

CREATE TABLE loan_priced_deal_total_currencies (
  `market` STRING NOT NULL OPTIONS (description = 'Market of the feed: IG, HY, EM, LL, CF or AF.'),
  `deal_id` INT64 NOT NULL OPTIONS (description = 'The source\'s id of the deal; unique only within service, market and kind.'),
  `version` INT64 NOT NULL OPTIONS (description = 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.'),
  `ordinal` INT64 NOT NULL OPTIONS (description = 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.'),
  `amount` NUMERIC(24,6) OPTIONS (description = 'Amount in the entry\'s currency. Unit: units of the currency, scale as stated.'),
  `currency` STRING OPTIONS (description = 'Currency code of the amounts, as written.'),
  `known_at` TIMESTAMP NOT NULL OPTIONS (description = 'Instant at which the version became known.'),
  `commit` INT64 NOT NULL OPTIONS (description = 'Number of the commit that added the version.'),
  PRIMARY KEY (`market`, `deal_id`, `ordinal`) NOT ENFORCED
)
OPTIONS (description = 'Totals of priced loan deals by currency.');
CREATE TABLE loan_priced_deal_total_currencies_history AS SELECT * FROM loan_priced_deal_total_currencies WHERE false;
CREATE TABLE loan_priced_deal_total_currencies_inserts AS SELECT * FROM loan_priced_deal_total_currencies WHERE false;
CREATE VIEW loan_priced_deal_total_currencies_versions AS
SELECT h.`market`, h.`deal_id`, h.`version`, h.`ordinal`, h.`amount`, h.`currency`, h.`known_at`, h.`commit`, h.`known_at` AS valid_from, c.valid_to
FROM loan_priced_deal_total_currencies_history h
JOIN (
  SELECT `market`, `deal_id`, `version`, `change`,
    LEAD(`known_at`) OVER (PARTITION BY `market`, `deal_id` ORDER BY `version`) AS valid_to
  FROM loan_priced_changes
) c ON c.`market` = h.`market` AND c.`deal_id` = h.`deal_id` AND c.`version` = h.`version`
WHERE c.`change` <> 'removed';

-- Loads the changes after commit 41 up to commit 42.
-- NUMERIC has nine digits after the point, so exchange rates, DECIMAL(20,10), are BIGNUMERIC. LOAD DATA reads gs:// only, or s3:// through BigQuery Omni.
DELETE FROM bond_expected_deletes WHERE true;
LOAD DATA INTO bond_expected_deletes FROM FILES (format = 'PARQUET', uris = ['s3://bucket/export/data/42/id/bond_expected.deletes/rows.parquet'], decimal_target_types = ['NUMERIC', 'BIGNUMERIC']);
DELETE FROM bond_expected_deal_history_inserts WHERE true;
LOAD DATA INTO bond_expected_deal_history_inserts FROM FILES (format = 'PARQUET', uris = ['s3://bucket/export/data/42/id/bond_expected_deal_history.inserts/rows.parquet'], decimal_target_types = ['NUMERIC', 'BIGNUMERIC']);
DELETE FROM loan_priced_deletes WHERE true;
LOAD DATA INTO loan_priced_deletes FROM FILES (format = 'PARQUET', uris = ['s3://bucket/export/data/42/id/loan_priced.deletes/rows.parquet'], decimal_target_types = ['NUMERIC', 'BIGNUMERIC']);
DELETE FROM loan_priced_deal_total_currencies_inserts WHERE true;
LOAD DATA INTO loan_priced_deal_total_currencies_inserts FROM FILES (format = 'PARQUET', uris = ['s3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/rows.parquet'], decimal_target_types = ['NUMERIC', 'BIGNUMERIC']);
BEGIN TRANSACTION;
MERGE INTO bond_expected_deal_history t USING (SELECT DISTINCT `market`, `deal_id` FROM bond_expected_deletes) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM bond_expected_deal_history_inserts;
MERGE INTO bond_expected_deal_history_history t USING (SELECT DISTINCT `market`, `deal_id`, `version`, `ordinal` FROM bond_expected_deal_history_inserts) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` AND t.`ordinal` = d.`ordinal` WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history_history (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM bond_expected_deal_history_inserts;
DELETE FROM loan_priced_deal_total_currencies WHERE true;
INSERT INTO loan_priced_deal_total_currencies (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO loan_priced_deal_total_currencies_history t USING (SELECT DISTINCT `market`, `deal_id`, `version`, `ordinal` FROM loan_priced_deal_total_currencies_inserts) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` AND t.`ordinal` = d.`ordinal` WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_deal_total_currencies_history (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO bond_expected_changes t USING (SELECT DISTINCT `market`, `deal_id`, `version` FROM bond_expected_deletes) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_changes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM bond_expected_deletes;
MERGE INTO loan_priced_changes t USING (SELECT DISTINCT `market`, `deal_id`, `version` FROM loan_priced_deletes) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_changes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM loan_priced_deletes;
INSERT INTO loan_priced_changes (`market`, `deal_id`, `version`, `change`, `known_at`, `commit`) SELECT DISTINCT i.`market`, i.`deal_id`, i.`version`, 'added', i.`known_at`, i.`commit` FROM loan_priced_deal_total_currencies_inserts i LEFT JOIN (SELECT `market`, `deal_id`, `version`, 1 AS kept FROM loan_priced_changes) c ON c.`market` = i.`market` AND c.`deal_id` = i.`deal_id` AND c.`version` = i.`version` WHERE COALESCE(c.kept, 0) = 0;
COMMIT TRANSACTION;

-- The lake's Iceberg tables in bigquery. They are current until the lake publishes again.
CREATE SCHEMA IF NOT EXISTS `current`;
CREATE EXTERNAL TABLE `current`.`bond_priced_deals` OPTIONS (format = 'ICEBERG', uris = ['s3://bucket/deals/_dealflow/iceberg/current/bond_priced_deals/metadata/v7.metadata.json']);
