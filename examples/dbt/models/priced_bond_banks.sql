-- The banks of priced bonds as of the newest export, kept up to date from one export to the next. It reads no lake.
{{ config(
  enabled=var('exports') != '', materialized='incremental', incremental_strategy='append', on_schema_change='append_new_columns',
  pre_hook="{{ delete_changed('bond_priced_banks') }}"
) }}
{{ inserted_by_exports('bond_priced_banks') }}
