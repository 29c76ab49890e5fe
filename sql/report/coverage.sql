-- Share of the texts that the parsers read, by field.
SELECT table_name, field, sum(texts)::BIGINT AS texts, sum(ok)::BIGINT AS ok, sum("range")::BIGINT AS ranges, sum(verbal)::BIGINT AS verbal,
       sum(no_number)::BIGINT AS no_number, sum(ambiguous)::BIGINT AS ambiguous, sum(unparsed)::BIGINT AS unparsed
FROM parse_coverage(getvariable('as_of'))
GROUP BY table_name, field
ORDER BY table_name, field
