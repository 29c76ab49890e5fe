-- Marks the codes of new listings that deals of several markets have listed, or one part of these codes.
UPDATE _dealflow.listing SET shared = true
WHERE NOT shared AND {{.Codes}} AND (service, code) IN (
  SELECT l.service, l.code
  FROM (FROM _dealflow.listing WHERE {{.Codes}}) l
  SEMI JOIN (
    SELECT n.service, n.code
    FROM (FROM _dealflow.listing WHERE {{.Codes}}) n
    SEMI JOIN (FROM new_version WHERE kind = 'priced') v
      ON v.service = n.service AND v.market = n.market AND v.deal_id = n.deal_id AND v.version = n.version
  ) new ON new.service = l.service AND new.code = l.code
  GROUP BY l.service, l.code
  HAVING min(l.market) <> max(l.market)
);
