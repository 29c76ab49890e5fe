-- Tables for the exports of dealflow, schema version 9, in trino.
-- The statements are for the Iceberg connector. Each is a transaction of its own: repeat a load that ended early.
-- A load reads files through a catalog named hive, of the Hive connector, with the schema dealflow and hive.parquet.time-zone=UTC.

CREATE TABLE bond_expected_changes (
  "market" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "deal_id" BIGINT NOT NULL COMMENT 'The source''s id of the deal.',
  "version" INTEGER NOT NULL COMMENT 'Version of the deal.',
  "change" VARCHAR NOT NULL COMMENT 'added, changed, removed or reappeared.',
  "reason" VARCHAR COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  "known_at" TIMESTAMP(6) WITH TIME ZONE NOT NULL COMMENT 'Instant at which the version became known.',
  "commit" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.'
)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE bond_expected_deletes (LIKE bond_expected_changes);

CREATE TABLE bond_expected_deal_history (
  "market" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "deal_id" BIGINT NOT NULL COMMENT 'The source''s id of the deal; unique only within service, market and kind.',
  "version" INTEGER NOT NULL COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  "ordinal" INTEGER NOT NULL COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  "changed" TIMESTAMP(6) WITH TIME ZONE COMMENT 'When the entry was written.',
  "headline" VARCHAR COMMENT 'Headline of the entry, free text.',
  "message" VARCHAR COMMENT 'Message of the entry, free text.',
  "known_at" TIMESTAMP(6) WITH TIME ZONE NOT NULL COMMENT 'Instant at which the version became known.',
  "commit" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.'
)
COMMENT 'News about expected bond deals, one row per entry.';
CREATE TABLE bond_expected_deal_history_history (LIKE bond_expected_deal_history);
CREATE TABLE bond_expected_deal_history_inserts (LIKE bond_expected_deal_history);
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
  "market" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "deal_id" BIGINT NOT NULL COMMENT 'The source''s id of the deal.',
  "version" INTEGER NOT NULL COMMENT 'Version of the deal.',
  "change" VARCHAR NOT NULL COMMENT 'added, changed, removed or reappeared.',
  "reason" VARCHAR COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  "known_at" TIMESTAMP(6) WITH TIME ZONE NOT NULL COMMENT 'Instant at which the version became known.',
  "commit" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.'
)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE loan_priced_deletes (LIKE loan_priced_changes);

CREATE TABLE loan_priced_deal_total_currencies (
  "market" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "deal_id" BIGINT NOT NULL COMMENT 'The source''s id of the deal; unique only within service, market and kind.',
  "version" INTEGER NOT NULL COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  "ordinal" INTEGER NOT NULL COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  "amount" DECIMAL(24,6) COMMENT 'Amount in the entry''s currency. Unit: units of the currency, scale as stated.',
  "currency" VARCHAR COMMENT 'Currency code of the amounts, as written.',
  "known_at" TIMESTAMP(6) WITH TIME ZONE NOT NULL COMMENT 'Instant at which the version became known.',
  "commit" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.'
)
COMMENT 'Totals of priced loan deals by currency.';
CREATE TABLE loan_priced_deal_total_currencies_history (LIKE loan_priced_deal_total_currencies);
CREATE TABLE loan_priced_deal_total_currencies_inserts (LIKE loan_priced_deal_total_currencies);
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
-- The statements are for the Iceberg connector. Each is a transaction of its own: repeat a load that ended early.
-- A load reads files through a catalog named hive, of the Hive connector, with the schema dealflow and hive.parquet.time-zone=UTC.
SET SESSION hive.timestamp_precision = 'MICROSECONDS';
DELETE FROM bond_expected_deletes;
DROP TABLE IF EXISTS hive.dealflow.bond_expected_deletes_file;
CREATE TABLE hive.dealflow.bond_expected_deletes_file ("market" VARCHAR, "deal_id" BIGINT, "version" INTEGER, "change" VARCHAR, "reason" VARCHAR, "known_at" TIMESTAMP(6), "commit" BIGINT) WITH (external_location = 's3://bucket/export/data/42/id/bond_expected.deletes/', format = 'PARQUET');
INSERT INTO bond_expected_deletes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", with_timezone("known_at", 'UTC'), "commit" FROM hive.dealflow.bond_expected_deletes_file;
DELETE FROM bond_expected_deal_history_inserts;
DROP TABLE IF EXISTS hive.dealflow.bond_expected_deal_history_inserts_file;
CREATE TABLE hive.dealflow.bond_expected_deal_history_inserts_file ("market" VARCHAR, "deal_id" BIGINT, "version" INTEGER, "ordinal" INTEGER, "changed" TIMESTAMP(6), "headline" VARCHAR, "message" VARCHAR, "known_at" TIMESTAMP(6), "commit" BIGINT) WITH (external_location = 's3://bucket/export/data/42/id/bond_expected_deal_history.inserts/', format = 'PARQUET');
INSERT INTO bond_expected_deal_history_inserts ("market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", with_timezone("changed", 'UTC'), "headline", "message", with_timezone("known_at", 'UTC'), "commit" FROM hive.dealflow.bond_expected_deal_history_inserts_file;
DELETE FROM loan_priced_deletes;
DROP TABLE IF EXISTS hive.dealflow.loan_priced_deletes_file;
CREATE TABLE hive.dealflow.loan_priced_deletes_file ("market" VARCHAR, "deal_id" BIGINT, "version" INTEGER, "change" VARCHAR, "reason" VARCHAR, "known_at" TIMESTAMP(6), "commit" BIGINT) WITH (external_location = 's3://bucket/export/data/42/id/loan_priced.deletes/', format = 'PARQUET');
INSERT INTO loan_priced_deletes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", with_timezone("known_at", 'UTC'), "commit" FROM hive.dealflow.loan_priced_deletes_file;
DELETE FROM loan_priced_deal_total_currencies_inserts;
DROP TABLE IF EXISTS hive.dealflow.loan_priced_deal_total_currencies_inserts_file;
CREATE TABLE hive.dealflow.loan_priced_deal_total_currencies_inserts_file ("market" VARCHAR, "deal_id" BIGINT, "version" INTEGER, "ordinal" INTEGER, "amount" DECIMAL(24,6), "currency" VARCHAR, "known_at" TIMESTAMP(6), "commit" BIGINT) WITH (external_location = 's3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/', format = 'PARQUET');
INSERT INTO loan_priced_deal_total_currencies_inserts ("market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "amount", "currency", with_timezone("known_at", 'UTC'), "commit" FROM hive.dealflow.loan_priced_deal_total_currencies_inserts_file;
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

-- The lake's Iceberg tables in trino. They are current until the lake publishes again.
-- A catalog named iceberg needs iceberg.register-table-procedure.enabled=true. Forget a table by unregister_table:
-- DROP TABLE would delete the lake's metadata of it.
CREATE SCHEMA IF NOT EXISTS iceberg."current";
CALL iceberg.system.register_table(schema_name => 'current', table_name => 'bond_priced_deals', table_location => 's3://bucket/deals/_dealflow/iceberg/current/bond_priced_deals', metadata_file_name => 'v7.metadata.json');
