-- Tables for the exports of dealflow, schema version 9, in redshift.
-- Keys are not enforced. Instants are TIMESTAMP in UTC, as COPY reads them from Parquet. COPY goes by the order of columns. A text of more than 65,535 bytes ends the load.

CREATE TABLE bond_expected_changes (
  "market" VARCHAR(65535) NOT NULL,
  "deal_id" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  "change" VARCHAR(65535) NOT NULL,
  "reason" VARCHAR(65535),
  "known_at" TIMESTAMP NOT NULL,
  "commit" BIGINT NOT NULL,
  PRIMARY KEY ("market", "deal_id", "version")
);
COMMENT ON COLUMN bond_expected_changes."market" IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN bond_expected_changes."deal_id" IS 'The source''s id of the deal.';
COMMENT ON COLUMN bond_expected_changes."version" IS 'Version of the deal.';
COMMENT ON COLUMN bond_expected_changes."change" IS 'added, changed, removed or reappeared.';
COMMENT ON COLUMN bond_expected_changes."reason" IS 'Why the deal was removed: gone, priced or out_of_entitlement.';
COMMENT ON COLUMN bond_expected_changes."known_at" IS 'Instant at which the version became known.';
COMMENT ON COLUMN bond_expected_changes."commit" IS 'Number of the commit that added the version.';
COMMENT ON TABLE bond_expected_changes IS 'Versions of deals that exports have brought.';
CREATE TABLE bond_expected_deletes (LIKE bond_expected_changes);

CREATE TABLE bond_expected_deal_history (
  "market" VARCHAR(65535) NOT NULL,
  "deal_id" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "changed" TIMESTAMP,
  "headline" VARCHAR(65535),
  "message" VARCHAR(65535),
  "known_at" TIMESTAMP NOT NULL,
  "commit" BIGINT NOT NULL,
  PRIMARY KEY ("market", "deal_id", "ordinal")
);
COMMENT ON COLUMN bond_expected_deal_history."market" IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN bond_expected_deal_history."deal_id" IS 'The source''s id of the deal; unique only within service, market and kind.';
COMMENT ON COLUMN bond_expected_deal_history."version" IS 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.';
COMMENT ON COLUMN bond_expected_deal_history."ordinal" IS 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.';
COMMENT ON COLUMN bond_expected_deal_history."changed" IS 'When the entry was written.';
COMMENT ON COLUMN bond_expected_deal_history."headline" IS 'Headline of the entry, free text.';
COMMENT ON COLUMN bond_expected_deal_history."message" IS 'Message of the entry, free text.';
COMMENT ON COLUMN bond_expected_deal_history."known_at" IS 'Instant at which the version became known.';
COMMENT ON COLUMN bond_expected_deal_history."commit" IS 'Number of the commit that added the version.';
COMMENT ON TABLE bond_expected_deal_history IS 'News about expected bond deals, one row per entry.';
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
  "market" VARCHAR(65535) NOT NULL,
  "deal_id" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  "change" VARCHAR(65535) NOT NULL,
  "reason" VARCHAR(65535),
  "known_at" TIMESTAMP NOT NULL,
  "commit" BIGINT NOT NULL,
  PRIMARY KEY ("market", "deal_id", "version")
);
COMMENT ON COLUMN loan_priced_changes."market" IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN loan_priced_changes."deal_id" IS 'The source''s id of the deal.';
COMMENT ON COLUMN loan_priced_changes."version" IS 'Version of the deal.';
COMMENT ON COLUMN loan_priced_changes."change" IS 'added, changed, removed or reappeared.';
COMMENT ON COLUMN loan_priced_changes."reason" IS 'Why the deal was removed: gone, priced or out_of_entitlement.';
COMMENT ON COLUMN loan_priced_changes."known_at" IS 'Instant at which the version became known.';
COMMENT ON COLUMN loan_priced_changes."commit" IS 'Number of the commit that added the version.';
COMMENT ON TABLE loan_priced_changes IS 'Versions of deals that exports have brought.';
CREATE TABLE loan_priced_deletes (LIKE loan_priced_changes);

CREATE TABLE loan_priced_deal_total_currencies (
  "market" VARCHAR(65535) NOT NULL,
  "deal_id" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "amount" DECIMAL(24,6),
  "currency" VARCHAR(65535),
  "known_at" TIMESTAMP NOT NULL,
  "commit" BIGINT NOT NULL,
  PRIMARY KEY ("market", "deal_id", "ordinal")
);
COMMENT ON COLUMN loan_priced_deal_total_currencies."market" IS 'Market of the feed: IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."deal_id" IS 'The source''s id of the deal; unique only within service, market and kind.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."version" IS 'Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."ordinal" IS 'Place of the entry in its list, from 1. Entries of a map are in the order of their keys.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."amount" IS 'Amount in the entry''s currency. Unit: units of the currency, scale as stated.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."currency" IS 'Currency code of the amounts, as written.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."known_at" IS 'Instant at which the version became known.';
COMMENT ON COLUMN loan_priced_deal_total_currencies."commit" IS 'Number of the commit that added the version.';
COMMENT ON TABLE loan_priced_deal_total_currencies IS 'Totals of priced loan deals by currency.';
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
-- Keys are not enforced. Instants are TIMESTAMP in UTC, as COPY reads them from Parquet. COPY goes by the order of columns. A text of more than 65,535 bytes ends the load.
DELETE FROM bond_expected_deletes;
COPY bond_expected_deletes FROM 's3://bucket/export/data/42/id/bond_expected.deletes/rows.parquet' IAM_ROLE DEFAULT FORMAT AS PARQUET;
DELETE FROM bond_expected_deal_history_inserts;
COPY bond_expected_deal_history_inserts FROM 's3://bucket/export/data/42/id/bond_expected_deal_history.inserts/rows.parquet' IAM_ROLE DEFAULT FORMAT AS PARQUET;
DELETE FROM loan_priced_deletes;
COPY loan_priced_deletes FROM 's3://bucket/export/data/42/id/loan_priced.deletes/rows.parquet' IAM_ROLE DEFAULT FORMAT AS PARQUET;
DELETE FROM loan_priced_deal_total_currencies_inserts;
COPY loan_priced_deal_total_currencies_inserts FROM 's3://bucket/export/data/42/id/loan_priced_deal_total_currencies.inserts/rows.parquet' IAM_ROLE DEFAULT FORMAT AS PARQUET;
BEGIN;
DELETE FROM bond_expected_deal_history USING (SELECT DISTINCT "market", "deal_id" FROM bond_expected_deletes) d WHERE bond_expected_deal_history."market" = d."market" AND bond_expected_deal_history."deal_id" = d."deal_id";
INSERT INTO bond_expected_deal_history ("market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit" FROM bond_expected_deal_history_inserts;
DELETE FROM bond_expected_deal_history_history USING (SELECT DISTINCT "market", "deal_id", "version", "ordinal" FROM bond_expected_deal_history_inserts) d WHERE bond_expected_deal_history_history."market" = d."market" AND bond_expected_deal_history_history."deal_id" = d."deal_id" AND bond_expected_deal_history_history."version" = d."version" AND bond_expected_deal_history_history."ordinal" = d."ordinal";
INSERT INTO bond_expected_deal_history_history ("market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "changed", "headline", "message", "known_at", "commit" FROM bond_expected_deal_history_inserts;
DELETE FROM loan_priced_deal_total_currencies;
INSERT INTO loan_priced_deal_total_currencies ("market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit" FROM loan_priced_deal_total_currencies_inserts;
DELETE FROM loan_priced_deal_total_currencies_history USING (SELECT DISTINCT "market", "deal_id", "version", "ordinal" FROM loan_priced_deal_total_currencies_inserts) d WHERE loan_priced_deal_total_currencies_history."market" = d."market" AND loan_priced_deal_total_currencies_history."deal_id" = d."deal_id" AND loan_priced_deal_total_currencies_history."version" = d."version" AND loan_priced_deal_total_currencies_history."ordinal" = d."ordinal";
INSERT INTO loan_priced_deal_total_currencies_history ("market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit") SELECT "market", "deal_id", "version", "ordinal", "amount", "currency", "known_at", "commit" FROM loan_priced_deal_total_currencies_inserts;
DELETE FROM bond_expected_changes USING (SELECT DISTINCT "market", "deal_id", "version" FROM bond_expected_deletes) d WHERE bond_expected_changes."market" = d."market" AND bond_expected_changes."deal_id" = d."deal_id" AND bond_expected_changes."version" = d."version";
INSERT INTO bond_expected_changes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", "known_at", "commit" FROM bond_expected_deletes;
DELETE FROM loan_priced_changes USING (SELECT DISTINCT "market", "deal_id", "version" FROM loan_priced_deletes) d WHERE loan_priced_changes."market" = d."market" AND loan_priced_changes."deal_id" = d."deal_id" AND loan_priced_changes."version" = d."version";
INSERT INTO loan_priced_changes ("market", "deal_id", "version", "change", "reason", "known_at", "commit") SELECT "market", "deal_id", "version", "change", "reason", "known_at", "commit" FROM loan_priced_deletes;
INSERT INTO loan_priced_changes ("market", "deal_id", "version", "change", "known_at", "commit") SELECT DISTINCT i."market", i."deal_id", i."version", 'added', i."known_at", i."commit" FROM loan_priced_deal_total_currencies_inserts i LEFT JOIN (SELECT "market", "deal_id", "version", 1 AS kept FROM loan_priced_changes) c ON c."market" = i."market" AND c."deal_id" = i."deal_id" AND c."version" = i."version" WHERE COALESCE(c.kept, 0) = 0;
COMMIT;

-- redshift has no statement that registers an Iceberg table by its metadata: use a catalog that it reads, or load exports (docs/how-to/export.md)
