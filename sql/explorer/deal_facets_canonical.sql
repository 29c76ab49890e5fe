-- The number of the deals that are searched for also by the canonical names of their borrowers.
{{template "_deal_facets.sql" "canonical"}}
