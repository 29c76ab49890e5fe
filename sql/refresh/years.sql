-- When versions of expected deals with content were listed, by the year in which their run began (NULL: the run is not known): from the first
-- instant to the last one, as text, in UTC. Years are of UTC, as in the paths of files.
WITH listed AS (
  SELECT v.service, year(make_timestamp(epoch_us(r.started_at))) AS began, min(v.valid_from) AS first, max(coalesce(v.valid_to, 'infinity'::TIMESTAMPTZ)) AS last
  FROM _dealflow.version_index v
  LEFT JOIN _dealflow.runs r ON r.run_id = v.run_id
  WHERE v.kind = 'expected' AND v.change <> 'removed'
  GROUP BY v.service, began
)
SELECT service, began,
       make_timestamp(epoch_us(min(first) OVER (PARTITION BY service ORDER BY began ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)))::VARCHAR,
       CASE WHEN isfinite(max(last) OVER earlier) THEN make_timestamp(epoch_us(max(last) OVER earlier))::VARCHAR ELSE 'infinity' END
FROM listed
WINDOW earlier AS (PARTITION BY service ORDER BY began)
ORDER BY service, began NULLS FIRST
