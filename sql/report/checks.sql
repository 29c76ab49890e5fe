-- Results of the quality checks of the last commit that was checked.
SELECT name, severity, outcome, coalesce(count, 0) AS count, coalesce(detail, '') AS detail
FROM checks
WHERE "commit" = (SELECT max("commit") FROM checks WHERE known_at <= getvariable('as_of'))
ORDER BY outcome = 'passed', name
