-- The number of those removed deals by service, market, kind, currency, sector, grade, year of pricing and ESG label.
{{template "_deal_facets.sql" "removed"}}
