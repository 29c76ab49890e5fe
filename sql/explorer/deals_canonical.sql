-- The same deals, searched for also by the canonical names of their borrowers.
{{template "_deals.sql" "canonical"}}
