-- The fields that are edited in most deals.
SELECT service, table_name, coalesce(field, '') AS field, sum(deals_restated)::BIGINT AS deals
FROM restatement_fields(30, getvariable('as_of'))
GROUP BY service, table_name, field
ORDER BY deals DESC, service, table_name, field
LIMIT 15
