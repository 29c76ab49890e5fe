-- Checks of the data that fail.
SELECT service, market, kind, name, value, total, share, coalesce(example, '') AS example, coalesce(note, '') AS note
FROM data_quality(getvariable('as_of'))
WHERE value > 0
ORDER BY share DESC, service, market, kind, name
