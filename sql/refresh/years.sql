-- The versions of expected deals with content, by what matters for the files that have them: the year in which their run began (NULL: the
-- run is not known), and the first and the last year in which they were listed. Years are of UTC, as in the paths of files.
SELECT DISTINCT v.service, year(make_timestamp(epoch_us(r.started_at))), year(make_timestamp(epoch_us(v.valid_from))),
       year(make_timestamp(epoch_us(coalesce(v.valid_to, c.known_at))))
FROM _dealflow.version_index v
CROSS JOIN _dealflow.catalog c
LEFT JOIN _dealflow.runs r ON r.run_id = v.run_id
WHERE v.kind = 'expected' AND v.change <> 'removed'
