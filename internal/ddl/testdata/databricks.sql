-- Tables for the exports of dealflow, schema version 9, in databricks.
-- Keys are not enforced. Each statement is a transaction of its own: repeat a load that ended early.

CREATE TABLE bond_expected_changes (
  `market` STRING NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` BIGINT NOT NULL COMMENT 'The source\'s id of the deal.',
  `version` INT NOT NULL COMMENT 'Version of the deal.',
  `change` STRING NOT NULL COMMENT 'added, changed, removed or reappeared.',
  `reason` STRING COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  `known_at` TIMESTAMP NOT NULL COMMENT 'Instant at which the version became known.',
  `commit` BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY (`market`, `deal_id`, `version`)
)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE bond_expected_deletes LIKE bond_expected_changes;

CREATE TABLE bond_expected_deal_history (
  `market` STRING NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` BIGINT NOT NULL COMMENT 'The source\'s id of the deal; unique only within service, market and kind.',
  `version` INT NOT NULL COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  `ordinal` INT NOT NULL COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  `changed` TIMESTAMP COMMENT 'When the entry was written.',
  `headline` STRING COMMENT 'Headline of the entry, free text.',
  `message` STRING COMMENT 'Message of the entry, free text.',
  `known_at` TIMESTAMP NOT NULL COMMENT 'Instant at which the version became known.',
  `commit` BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY (`market`, `deal_id`, `ordinal`)
)
COMMENT 'News about expected bond deals, one row per entry.';
CREATE TABLE bond_expected_deal_history_history LIKE bond_expected_deal_history;
CREATE TABLE bond_expected_deal_history_inserts LIKE bond_expected_deal_history;
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
  `market` STRING NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` BIGINT NOT NULL COMMENT 'The source\'s id of the deal.',
  `version` INT NOT NULL COMMENT 'Version of the deal.',
  `change` STRING NOT NULL COMMENT 'added, changed, removed or reappeared.',
  `reason` STRING COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  `known_at` TIMESTAMP NOT NULL COMMENT 'Instant at which the version became known.',
  `commit` BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY (`market`, `deal_id`, `version`)
)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE loan_priced_deletes LIKE loan_priced_changes;

CREATE TABLE loan_priced_deal_total_currencies (
  `market` STRING NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` BIGINT NOT NULL COMMENT 'The source\'s id of the deal; unique only within service, market and kind.',
  `version` INT NOT NULL COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  `ordinal` INT NOT NULL COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  `amount` DECIMAL(24,6) COMMENT 'Amount in the entry\'s currency. Unit: units of the currency, scale as stated.',
  `currency` STRING COMMENT 'Currency code of the amounts, as written.',
  `known_at` TIMESTAMP NOT NULL COMMENT 'Instant at which the version became known.',
  `commit` BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY (`market`, `deal_id`, `ordinal`)
)
COMMENT 'Totals of priced loan deals by currency.';
CREATE TABLE loan_priced_deal_total_currencies_history LIKE loan_priced_deal_total_currencies;
CREATE TABLE loan_priced_deal_total_currencies_inserts LIKE loan_priced_deal_total_currencies;
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
-- Keys are not enforced. Each statement is a transaction of its own: repeat a load that ended early.
DELETE FROM bond_expected_deletes;
INSERT INTO bond_expected_deletes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM parquet.`s3://bucket/export/data/42/id/bond_expected.deletes/rows.parquet`;
DELETE FROM bond_expected_deal_history_inserts;
INSERT INTO bond_expected_deal_history_inserts (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM parquet.`s3://bucket/export/data/42/id/bond_expected_deal_history.inserts/rows.parquet`;
DELETE FROM loan_priced_deletes;
INSERT INTO loan_priced_deletes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM parquet.`s3://bucket/export/data/42/id/loan_priced.deletes/rows.parquet`;
DELETE FROM loan_priced_deal_total_currencies_inserts;
INSERT INTO loan_priced_deal_total_currencies_inserts (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM parquet.`s3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/rows.parquet`;
MERGE INTO bond_expected_deal_history t USING (SELECT DISTINCT `market`, `deal_id` FROM bond_expected_deletes) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM bond_expected_deal_history_inserts;
MERGE INTO bond_expected_deal_history_history t USING (SELECT DISTINCT `market`, `deal_id`, `version`, `ordinal` FROM bond_expected_deal_history_inserts) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` AND t.`ordinal` = d.`ordinal` WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history_history (`market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `changed`, `headline`, `message`, `known_at`, `commit` FROM bond_expected_deal_history_inserts;
DELETE FROM loan_priced_deal_total_currencies;
INSERT INTO loan_priced_deal_total_currencies (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO loan_priced_deal_total_currencies_history t USING (SELECT DISTINCT `market`, `deal_id`, `version`, `ordinal` FROM loan_priced_deal_total_currencies_inserts) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` AND t.`ordinal` = d.`ordinal` WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_deal_total_currencies_history (`market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `ordinal`, `amount`, `currency`, `known_at`, `commit` FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO bond_expected_changes t USING (SELECT DISTINCT `market`, `deal_id`, `version` FROM bond_expected_deletes) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_changes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM bond_expected_deletes;
MERGE INTO loan_priced_changes t USING (SELECT DISTINCT `market`, `deal_id`, `version` FROM loan_priced_deletes) d ON t.`market` = d.`market` AND t.`deal_id` = d.`deal_id` AND t.`version` = d.`version` WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_changes (`market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit`) SELECT `market`, `deal_id`, `version`, `change`, `reason`, `known_at`, `commit` FROM loan_priced_deletes;
INSERT INTO loan_priced_changes (`market`, `deal_id`, `version`, `change`, `known_at`, `commit`) SELECT DISTINCT i.`market`, i.`deal_id`, i.`version`, 'added', i.`known_at`, i.`commit` FROM loan_priced_deal_total_currencies_inserts i LEFT JOIN (SELECT `market`, `deal_id`, `version`, 1 AS kept FROM loan_priced_changes) c ON c.`market` = i.`market` AND c.`deal_id` = i.`deal_id` AND c.`version` = i.`version` WHERE COALESCE(c.kept, 0) = 0;

-- databricks has no statement that registers an Iceberg table by its metadata: use a catalog that it reads, or load exports (docs/how-to/export.md)
