-- The deals that were current at the instant, and that the search and the filters leave.
{{template "_deals.sql" "current"}}
