-- Tables for the exports of dealflow, schema version 9, in athena.
-- Each table needs a LOCATION of its own, unless the workgroup has one. Instants are timestamp in UTC. Each statement is a transaction of its own: repeat a load that ended early.

CREATE TABLE bond_expected_changes (
  `market` string COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` bigint COMMENT 'The source\'s id of the deal.',
  `version` int COMMENT 'Version of the deal.',
  `change` string COMMENT 'added, changed, removed or reappeared.',
  `reason` string COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  `known_at` timestamp COMMENT 'Instant at which the version became known.',
  `commit` bigint COMMENT 'Number of the commit that added the version.'
)
COMMENT 'Versions of deals that exports have brought.'
TBLPROPERTIES ('table_type' = 'ICEBERG');
CREATE TABLE bond_expected_deletes WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM bond_expected_changes WITH NO DATA;

CREATE TABLE bond_expected_deal_history (
  `market` string COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` bigint COMMENT 'The source\'s id of the deal; unique only within service, market and kind.',
  `version` int COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  `ordinal` int COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  `changed` timestamp COMMENT 'When the entry was written.',
  `headline` string COMMENT 'Headline of the entry, free text.',
  `message` string COMMENT 'Message of the entry, free text.',
  `known_at` timestamp COMMENT 'Instant at which the version became known.',
  `commit` bigint COMMENT 'Number of the commit that added the version.'
)
COMMENT 'News about expected bond deals, one row per entry.'
TBLPROPERTIES ('table_type' = 'ICEBERG');
CREATE TABLE bond_expected_deal_history_history WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM bond_expected_deal_history WITH NO DATA;
CREATE TABLE bond_expected_deal_history_inserts WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM bond_expected_deal_history WITH NO DATA;
CREATE VIEW bond_expected_deal_history_versions AS
SELECT h."market", h."deal_id", h."version", h."ordinal", h."changed", h."headline", h."message", h."known_at", h."commit", h."known_at" AS valid_from, c.valid_to
FROM bond_expected_deal_history_history h
JOIN (
  SELECT "market", "deal_id", "version", "change",
    LEAD("known_at") OVER (PARTITION BY "market", "deal_id" ORDER BY "version") AS valid_to
  FROM bond_expected_changes
) c ON c."market" = h."market" AND c."deal_id" = h."deal_id" AND c."version" = h."version"
WHERE c."change" <> 'removed';

CREATE TABLE loan_priced_changes (
  `market` string COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` bigint COMMENT 'The source\'s id of the deal.',
  `version` int COMMENT 'Version of the deal.',
  `change` string COMMENT 'added, changed, removed or reappeared.',
  `reason` string COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  `known_at` timestamp COMMENT 'Instant at which the version became known.',
  `commit` bigint COMMENT 'Number of the commit that added the version.'
)
COMMENT 'Versions of deals that exports have brought.'
TBLPROPERTIES ('table_type' = 'ICEBERG');
CREATE TABLE loan_priced_deletes WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM loan_priced_changes WITH NO DATA;

CREATE TABLE loan_priced_deal_total_currencies (
  `market` string COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  `deal_id` bigint COMMENT 'The source\'s id of the deal; unique only within service, market and kind.',
  `version` int COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  `ordinal` int COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  `amount` DECIMAL(24,6) COMMENT 'Amount in the entry\'s currency. Unit: units of the currency, scale as stated.',
  `currency` string COMMENT 'Currency code of the amounts, as written.',
  `known_at` timestamp COMMENT 'Instant at which the version became known.',
  `commit` bigint COMMENT 'Number of the commit that added the version.'
)
COMMENT 'Totals of priced loan deals by currency.'
TBLPROPERTIES ('table_type' = 'ICEBERG');
CREATE TABLE loan_priced_deal_total_currencies_history WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM loan_priced_deal_total_currencies WITH NO DATA;
CREATE TABLE loan_priced_deal_total_currencies_inserts WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM loan_priced_deal_total_currencies WITH NO DATA;
CREATE VIEW loan_priced_deal_total_currencies_versions AS
SELECT h."market", h."deal_id", h."version", h."ordinal", h."amount", h."currency", h."known_at", h."commit", h."known_at" AS valid_from, c.valid_to
FROM loan_priced_deal_total_currencies_history h
JOIN (
  SELECT "market", "deal_id", "version", "change",
    LEAD("known_at") OVER (PARTITION BY "market", "deal_id" ORDER BY "version") AS valid_to
  FROM loan_priced_changes
) c ON c."market" = h."market" AND c."deal_id" = h."deal_id" AND c."version" = h."version"
WHERE c."change" <> 'removed';

-- Loads the changes after commit 41 up to commit 42.
-- Each table needs a LOCATION of its own, unless the workgroup has one. Instants are timestamp in UTC. Each statement is a transaction of its own: repeat a load that ended early.
DELETE FROM bond_expected_deletes;
DROP TABLE IF EXISTS bond_expected_deletes_file;
CREATE EXTERNAL TABLE bond_expected_deletes_file (`market` string, `deal_id` bigint, `version` int, `change` string, `reason` string, `known_at` timestamp, `commit` bigint) STORED AS PARQUET LOCATION 's3://bucket/export/data/42/id/bond_expected.deletes/';
INSERT INTO bond_expected_deletes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", "known_at", "commit" FROM bond_expected_deletes_file;
DELETE FROM bond_expected_deal_history_inserts;
DROP TABLE IF EXISTS bond_expected_deal_history_inserts_file;
CREATE EXTERNAL TABLE bond_expected_deal_history_inserts_file (`market` string, `deal_id` bigint, `version` int, `ordinal` int, `changed` timestamp, `headline` string, `message` string, `known_at` timestamp, `commit` bigint) STORED AS PARQUET LOCATION 's3://bucket/export/data/42/id/bond_expected_deal_history.inserts/';
INSERT INTO bond_expected_deal_history_inserts ("market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit" FROM bond_expected_deal_history_inserts_file;
DELETE FROM loan_priced_deletes;
DROP TABLE IF EXISTS loan_priced_deletes_file;
CREATE EXTERNAL TABLE loan_priced_deletes_file (`market` string, `deal_id` bigint, `version` int, `change` string, `reason` string, `known_at` timestamp, `commit` bigint) STORED AS PARQUET LOCATION 's3://bucket/export/data/42/id/loan_priced.deletes/';
INSERT INTO loan_priced_deletes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", "known_at", "commit" FROM loan_priced_deletes_file;
DELETE FROM loan_priced_deal_total_currencies_inserts;
DROP TABLE IF EXISTS loan_priced_deal_total_currencies_inserts_file;
CREATE EXTERNAL TABLE loan_priced_deal_total_currencies_inserts_file (`market` string, `deal_id` bigint, `version` int, `ordinal` int, `amount` DECIMAL(24,6), `currency` string, `known_at` timestamp, `commit` bigint) STORED AS PARQUET LOCATION 's3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/';
INSERT INTO loan_priced_deal_total_currencies_inserts ("market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit" FROM loan_priced_deal_total_currencies_inserts_file;
MERGE INTO bond_expected_deal_history t USING (SELECT DISTINCT "market", "deal_id" FROM bond_expected_deletes) d ON t."market" = d."market" AND t."deal_id" = d."deal_id" WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history ("market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit" FROM bond_expected_deal_history_inserts;
MERGE INTO bond_expected_deal_history_history t USING (SELECT DISTINCT "market", "deal_id", "version", "ordinal" FROM bond_expected_deal_history_inserts) d ON t."market" = d."market" AND t."deal_id" = d."deal_id" AND t."version" = d."version" AND t."ordinal" = d."ordinal" WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history_history ("market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit" FROM bond_expected_deal_history_inserts;
DELETE FROM loan_priced_deal_total_currencies;
INSERT INTO loan_priced_deal_total_currencies ("market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit" FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO loan_priced_deal_total_currencies_history t USING (SELECT DISTINCT "market", "deal_id", "version", "ordinal" FROM loan_priced_deal_total_currencies_inserts) d ON t."market" = d."market" AND t."deal_id" = d."deal_id" AND t."version" = d."version" AND t."ordinal" = d."ordinal" WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_deal_total_currencies_history ("market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit" FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO bond_expected_changes t USING (SELECT DISTINCT "market", "deal_id", "version" FROM bond_expected_deletes) d ON t."market" = d."market" AND t."deal_id" = d."deal_id" AND t."version" = d."version" WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_changes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", "known_at", "commit" FROM bond_expected_deletes;
MERGE INTO loan_priced_changes t USING (SELECT DISTINCT "market", "deal_id", "version" FROM loan_priced_deletes) d ON t."market" = d."market" AND t."deal_id" = d."deal_id" AND t."version" = d."version" WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_changes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", "known_at", "commit" FROM loan_priced_deletes;
INSERT INTO loan_priced_changes ("market", "deal_id", "version", "change", "known_at", "commit") SELECT DISTINCT i."market", i."deal_id", i."version", 'added', i."known_at", i."commit" FROM loan_priced_deal_total_currencies_inserts i LEFT JOIN (SELECT "market", "deal_id", "version", 1 AS kept FROM loan_priced_changes) c ON c."market" = i."market" AND c."deal_id" = i."deal_id" AND c."version" = i."version" WHERE COALESCE(c.kept, 0) = 0;

-- athena has no statement that registers an Iceberg table by its metadata: use a catalog that it reads, or load exports (docs/how-to/export.md)
