-- The version of the aliases of banks and borrowers; empty if there are none.
SELECT alias_version FROM catalog_info
