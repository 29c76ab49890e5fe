CREATE TEMP TABLE found_change (
  service VARCHAR, market VARCHAR, kind VARCHAR, deal_id BIGINT, version INTEGER, known_at TIMESTAMPTZ,
  table_name VARCHAR, row_key VARCHAR, field VARCHAR, change VARCHAR, was VARCHAR, "is" VARCHAR);
