{{.}}_before AS (
  SELECT *, valid_from AS known_at
  FROM history.{{.}} h
  SEMI JOIN removed r ON starts_with({{lit .}}, r.service || '_' || r.kind || '_') AND r.market = h.market AND r.deal_id = h.deal_id AND r.version = h.version + 1
  WHERE h.valid_from <= $as_of::TIMESTAMPTZ
), {{/* without the end of the line */ -}}
