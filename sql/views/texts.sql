-- Whether a text was not read, by its status.
CREATE MACRO _dealflow.is_unread(status) AS coalesce(status IN ('UNPARSED', 'AMBIGUOUS'), false);

-- One text column of a group of rows: how many texts have each status; and the lowest deal_ids, at most five, of those that were
-- not read, if with_unread says so.
CREATE MACRO _dealflow.texts_of(field, status, deal_id, with_unread) AS {
  field: field, texts: histogram(status),
  unread: min(DISTINCT deal_id, 5) FILTER (with_unread AND _dealflow.is_unread(status))};

-- The same for texts that were written before there was their parser: their status is an empty text.
CREATE MACRO _dealflow.older_texts_of(field, text, status) AS {
  field: field, texts: histogram(CASE WHEN text IS NOT NULL AND status IS NULL THEN '' END), unread: NULL::BIGINT[]};

-- The number of texts of some statuses.
CREATE MACRO _dealflow.texts_with(texts, is_counted) AS coalesce(sum(texts) FILTER (is_counted), 0)::BIGINT;

-- What the parsers read in the texts, as known at an instant: one row per market, text column, year, version of the parsers and
-- status, with the number of texts that are not NULL, and unread of texts_of for all statuses of them. The year is that of
-- pricing; for an expected deal, that of known_at.
-- Each text in a newer file has a status. So the texts themselves are read from older files alone, by the second SELECT of each
-- table, to see which are NULL: from all files that takes half as long again.
CREATE MACRO _dealflow.texts_read(instant, with_unread) AS TABLE
WITH _deals AS NOT MATERIALIZED (
  FROM main.deals_as_of(instant)
), counted AS (
{{- $union := ""}}
{{- range $table := .}}{{if .ParsedTexts}}
{{- $date := "priced_date"}}{{if eq .Service "bond"}}{{$date = "pricing_date"}}{{end}}
{{- $year := printf "year(t.%s)" $date}}{{$older := $year}}{{$deals := ""}}
{{- if eq .Kind "expected"}}
  {{- $year = "year(main.utc_day(t.known_at))"}}{{$older = "year(main.utc_day(v.valid_from))"}}
{{- else if .Rows}}
  {{- $year = printf "year(d.%s)" $date}}{{$older = $year}}
  {{- $deals = printf "\n  JOIN (SELECT market, deal_id, version, %s FROM _dealflow.history_%s_priced_deals) d\n    ON d.market = t.market AND d.deal_id = t.deal_id AND d.version = t.version" $date .Service}}
{{- end}}{{$union}}
  SELECT {{lit (printf "%s" .Service)}} AS service, t.market, {{lit (printf "%s" .Kind)}} AS kind, {{lit .Name}} AS table_name,
         {{$year}} AS year, t.parser_version, unnest([{{range $i, $c := .ParsedTexts}}{{if $i}},{{end}}
           _dealflow.texts_of({{lit .Text}}, t.{{ident .Status}}, t.deal_id, with_unread){{end}}]) AS column_read
  FROM main.{{.Name}}_as_of(instant) t{{$deals}}
  GROUP BY t.market, {{$year}}, t.parser_version
  UNION ALL
  SELECT {{lit (printf "%s" .Service)}} AS service, t.market, {{lit (printf "%s" .Kind)}} AS kind, {{lit .Name}} AS table_name,
         {{$older}} AS year, t.parser_version, unnest([{{range $i, $c := .ParsedTexts}}{{if $i}},{{end}}
           _dealflow.older_texts_of({{lit .Text}}, t.{{ident .Text}}, t.{{ident .Status}}){{end}}]) AS column_read
  FROM _dealflow.older_{{.Name}} t JOIN _deals v USING (market, deal_id, version){{$deals}}
  WHERE v.service = {{lit (printf "%s" .Service)}} AND v.kind = {{lit (printf "%s" .Kind)}}
  GROUP BY t.market, {{$older}}, t.parser_version
{{- $union = "\n  UNION ALL"}}
{{- end}}{{end}}
)
SELECT service, market, kind, table_name, column_read.field AS field, year, parser_version,
       read.key AS status, read.value AS texts, column_read.unread AS unread
FROM (SELECT *, unnest(map_entries(column_read.texts)) AS read FROM counted);
