-- Tables for the exports of dealflow, schema version 9, in snowflake.
-- Keys are not enforced. COPY INTO passes over files that it has loaded before, unless it has FORCE: a load must be repeatable.
-- It needs a stage or a STORAGE_INTEGRATION that may read the target.

CREATE TABLE bond_expected_changes (
  "MARKET" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "DEAL_ID" BIGINT NOT NULL COMMENT 'The source''s id of the deal.',
  "VERSION" INTEGER NOT NULL COMMENT 'Version of the deal.',
  "CHANGE" VARCHAR NOT NULL COMMENT 'added, changed, removed or reappeared.',
  "REASON" VARCHAR COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  "KNOWN_AT" TIMESTAMP_TZ(6) NOT NULL COMMENT 'Instant at which the version became known.',
  "COMMIT" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY ("MARKET", "DEAL_ID", "VERSION")
)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE bond_expected_deletes LIKE bond_expected_changes;

CREATE TABLE bond_expected_deal_history (
  "MARKET" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "DEAL_ID" BIGINT NOT NULL COMMENT 'The source''s id of the deal; unique only within service, market and kind.',
  "VERSION" INTEGER NOT NULL COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  "ORDINAL" INTEGER NOT NULL COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  "CHANGED" TIMESTAMP_TZ(6) COMMENT 'When the entry was written.',
  "HEADLINE" VARCHAR COMMENT 'Headline of the entry, free text.',
  "MESSAGE" VARCHAR COMMENT 'Message of the entry, free text.',
  "KNOWN_AT" TIMESTAMP_TZ(6) NOT NULL COMMENT 'Instant at which the version became known.',
  "COMMIT" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY ("MARKET", "DEAL_ID", "ORDINAL")
)
COMMENT 'News about expected bond deals, one row per entry.';
CREATE TABLE bond_expected_deal_history_history LIKE bond_expected_deal_history;
CREATE TABLE bond_expected_deal_history_inserts LIKE bond_expected_deal_history;
CREATE VIEW bond_expected_deal_history_versions AS
SELECT h."MARKET", h."DEAL_ID", h."VERSION", h."ORDINAL", h."CHANGED", h."HEADLINE", h."MESSAGE", h."KNOWN_AT", h."COMMIT", h."KNOWN_AT" AS valid_from, c.valid_to
FROM bond_expected_deal_history_history h
JOIN (
  SELECT "MARKET", "DEAL_ID", "VERSION", "CHANGE",
    LEAD("KNOWN_AT") OVER (PARTITION BY "MARKET", "DEAL_ID" ORDER BY "VERSION") AS valid_to
  FROM bond_expected_changes
) c ON c."MARKET" = h."MARKET" AND c."DEAL_ID" = h."DEAL_ID" AND c."VERSION" = h."VERSION"
WHERE c."CHANGE" <> 'removed';

CREATE TABLE loan_priced_changes (
  "MARKET" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "DEAL_ID" BIGINT NOT NULL COMMENT 'The source''s id of the deal.',
  "VERSION" INTEGER NOT NULL COMMENT 'Version of the deal.',
  "CHANGE" VARCHAR NOT NULL COMMENT 'added, changed, removed or reappeared.',
  "REASON" VARCHAR COMMENT 'Why the deal was removed: gone, priced or out_of_entitlement.',
  "KNOWN_AT" TIMESTAMP_TZ(6) NOT NULL COMMENT 'Instant at which the version became known.',
  "COMMIT" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY ("MARKET", "DEAL_ID", "VERSION")
)
COMMENT 'Versions of deals that exports have brought.';
CREATE TABLE loan_priced_deletes LIKE loan_priced_changes;

CREATE TABLE loan_priced_deal_total_currencies (
  "MARKET" VARCHAR NOT NULL COMMENT 'Market of the feed: IG, HY, EM, LL, CF or AF.',
  "DEAL_ID" BIGINT NOT NULL COMMENT 'The source''s id of the deal; unique only within service, market and kind.',
  "VERSION" INTEGER NOT NULL COMMENT 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.',
  "ORDINAL" INTEGER NOT NULL COMMENT 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.',
  "AMOUNT" DECIMAL(24,6) COMMENT 'Amount in the entry''s currency. Unit: units of the currency, scale as stated.',
  "CURRENCY" VARCHAR COMMENT 'Currency code of the amounts, as written.',
  "KNOWN_AT" TIMESTAMP_TZ(6) NOT NULL COMMENT 'Instant at which the version became known.',
  "COMMIT" BIGINT NOT NULL COMMENT 'Number of the commit that added the version.',
  PRIMARY KEY ("MARKET", "DEAL_ID", "ORDINAL")
)
COMMENT 'Totals of priced loan deals by currency.';
CREATE TABLE loan_priced_deal_total_currencies_history LIKE loan_priced_deal_total_currencies;
CREATE TABLE loan_priced_deal_total_currencies_inserts LIKE loan_priced_deal_total_currencies;
CREATE VIEW loan_priced_deal_total_currencies_versions AS
SELECT h."MARKET", h."DEAL_ID", h."VERSION", h."ORDINAL", h."AMOUNT", h."CURRENCY", h."KNOWN_AT", h."COMMIT", h."KNOWN_AT" AS valid_from, c.valid_to
FROM loan_priced_deal_total_currencies_history h
JOIN (
  SELECT "MARKET", "DEAL_ID", "VERSION", "CHANGE",
    LEAD("KNOWN_AT") OVER (PARTITION BY "MARKET", "DEAL_ID" ORDER BY "VERSION") AS valid_to
  FROM loan_priced_changes
) c ON c."MARKET" = h."MARKET" AND c."DEAL_ID" = h."DEAL_ID" AND c."VERSION" = h."VERSION"
WHERE c."CHANGE" <> 'removed';

-- Loads the changes after commit 41 up to commit 42.
-- Keys are not enforced. COPY INTO passes over files that it has loaded before, unless it has FORCE: a load must be repeatable.
-- It needs a stage or a STORAGE_INTEGRATION that may read the target.
DELETE FROM bond_expected_deletes;
COPY INTO bond_expected_deletes FROM 's3://bucket/export/data/42/id/bond_expected.deletes/rows.parquet' FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE FORCE = TRUE;
DELETE FROM bond_expected_deal_history_inserts;
COPY INTO bond_expected_deal_history_inserts FROM 's3://bucket/export/data/42/id/bond_expected_deal_history.inserts/rows.parquet' FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE FORCE = TRUE;
DELETE FROM loan_priced_deletes;
COPY INTO loan_priced_deletes FROM 's3://bucket/export/data/42/id/loan_priced.deletes/rows.parquet' FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE FORCE = TRUE;
DELETE FROM loan_priced_deal_total_currencies_inserts;
COPY INTO loan_priced_deal_total_currencies_inserts FROM 's3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/rows.parquet' FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE FORCE = TRUE;
BEGIN;
MERGE INTO bond_expected_deal_history t USING (SELECT DISTINCT "MARKET", "DEAL_ID" FROM bond_expected_deletes) d ON t."MARKET" = d."MARKET" AND t."DEAL_ID" = d."DEAL_ID" WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history ("MARKET", "DEAL_ID", "VERSION", "ORDINAL", "CHANGED", "HEADLINE", "MESSAGE", "KNOWN_AT", "COMMIT") SELECT "MARKET", "DEAL_ID", "VERSION", "ORDINAL", "CHANGED", "HEADLINE", "MESSAGE", "KNOWN_AT", "COMMIT" FROM bond_expected_deal_history_inserts;
MERGE INTO bond_expected_deal_history_history t USING (SELECT DISTINCT "MARKET", "DEAL_ID", "VERSION", "ORDINAL" FROM bond_expected_deal_history_inserts) d ON t."MARKET" = d."MARKET" AND t."DEAL_ID" = d."DEAL_ID" AND t."VERSION" = d."VERSION" AND t."ORDINAL" = d."ORDINAL" WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_deal_history_history ("MARKET", "DEAL_ID", "VERSION", "ORDINAL", "CHANGED", "HEADLINE", "MESSAGE", "KNOWN_AT", "COMMIT") SELECT "MARKET", "DEAL_ID", "VERSION", "ORDINAL", "CHANGED", "HEADLINE", "MESSAGE", "KNOWN_AT", "COMMIT" FROM bond_expected_deal_history_inserts;
DELETE FROM loan_priced_deal_total_currencies;
INSERT INTO loan_priced_deal_total_currencies ("MARKET", "DEAL_ID", "VERSION", "ORDINAL", "AMOUNT", "CURRENCY", "KNOWN_AT", "COMMIT") SELECT "MARKET", "DEAL_ID", "VERSION", "ORDINAL", "AMOUNT", "CURRENCY", "KNOWN_AT", "COMMIT" FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO loan_priced_deal_total_currencies_history t USING (SELECT DISTINCT "MARKET", "DEAL_ID", "VERSION", "ORDINAL" FROM loan_priced_deal_total_currencies_inserts) d ON t."MARKET" = d."MARKET" AND t."DEAL_ID" = d."DEAL_ID" AND t."VERSION" = d."VERSION" AND t."ORDINAL" = d."ORDINAL" WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_deal_total_currencies_history ("MARKET", "DEAL_ID", "VERSION", "ORDINAL", "AMOUNT", "CURRENCY", "KNOWN_AT", "COMMIT") SELECT "MARKET", "DEAL_ID", "VERSION", "ORDINAL", "AMOUNT", "CURRENCY", "KNOWN_AT", "COMMIT" FROM loan_priced_deal_total_currencies_inserts;
MERGE INTO bond_expected_changes t USING (SELECT DISTINCT "MARKET", "DEAL_ID", "VERSION" FROM bond_expected_deletes) d ON t."MARKET" = d."MARKET" AND t."DEAL_ID" = d."DEAL_ID" AND t."VERSION" = d."VERSION" WHEN MATCHED THEN DELETE;
INSERT INTO bond_expected_changes ("MARKET", "DEAL_ID", "VERSION", "CHANGE", "REASON", "KNOWN_AT", "COMMIT") SELECT "MARKET", "DEAL_ID", "VERSION", "CHANGE", "REASON", "KNOWN_AT", "COMMIT" FROM bond_expected_deletes;
MERGE INTO loan_priced_changes t USING (SELECT DISTINCT "MARKET", "DEAL_ID", "VERSION" FROM loan_priced_deletes) d ON t."MARKET" = d."MARKET" AND t."DEAL_ID" = d."DEAL_ID" AND t."VERSION" = d."VERSION" WHEN MATCHED THEN DELETE;
INSERT INTO loan_priced_changes ("MARKET", "DEAL_ID", "VERSION", "CHANGE", "REASON", "KNOWN_AT", "COMMIT") SELECT "MARKET", "DEAL_ID", "VERSION", "CHANGE", "REASON", "KNOWN_AT", "COMMIT" FROM loan_priced_deletes;
INSERT INTO loan_priced_changes ("MARKET", "DEAL_ID", "VERSION", "CHANGE", "KNOWN_AT", "COMMIT") SELECT DISTINCT i."MARKET", i."DEAL_ID", i."VERSION", 'added', i."KNOWN_AT", i."COMMIT" FROM loan_priced_deal_total_currencies_inserts i LEFT JOIN (SELECT "MARKET", "DEAL_ID", "VERSION", 1 AS kept FROM loan_priced_changes) c ON c."MARKET" = i."MARKET" AND c."DEAL_ID" = i."DEAL_ID" AND c."VERSION" = i."VERSION" WHERE COALESCE(c.kept, 0) = 0;
COMMIT;

-- The lake's Iceberg tables in snowflake. They are current until the lake publishes again.
-- The external volume dealflow needs the lake's address as its STORAGE_BASE_URL: paths are below it.
CREATE SCHEMA IF NOT EXISTS "CURRENT";
CREATE ICEBERG TABLE "CURRENT"."BOND_PRICED_DEALS" EXTERNAL_VOLUME = 'dealflow' CATALOG = 'dealflow' METADATA_FILE_PATH = '_dealflow/iceberg/current/bond_priced_deals/metadata/v7.metadata.json';
