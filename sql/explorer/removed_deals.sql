-- The deals that had been removed at the instant, as they were in the version before, and that the search and the filters leave.
{{template "_deals.sql" "removed"}}
