-- The first and the newest commit as of the instant, and how many pulls there were.
SELECT max("commit") AS "commit", max(known_at) AS known_at, knowledge_at(getvariable('as_of')) AS observed_at,
       min(known_at) AS first_known_at,
       count(*) FILTER (command IN ('run', 'sync', 'quarantine')) AS pulls,
       coalesce(arg_max(outcome, "commit") FILTER (command IN ('run', 'sync', 'quarantine')), '') AS outcome
FROM runs
WHERE known_at <= getvariable('as_of')
HAVING pulls > 0
