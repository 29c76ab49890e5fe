-- The interval of a deal's previous version ends where the new version begins.
UPDATE _dealflow.version_index held
SET valid_to = came.known_at
FROM (
  SELECT service, market, kind, deal_id, min(valid_from) AS known_at
  FROM new_version
  GROUP BY service, market, kind, deal_id
) came
WHERE held.service = came.service AND held.market = came.market AND held.kind = came.kind AND held.deal_id = came.deal_id
  AND held.valid_to IS NULL;

INSERT INTO _dealflow.version_index
FROM new_version;
