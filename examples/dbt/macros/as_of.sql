{# Returns a table of the lake as it was known at an instant; by default at the variable as_of. #}
{% macro as_of(table, instant=none) %}lake.{{ source('lake', table).identifier }}_as_of('{{ instant or var("as_of") }}'::TIMESTAMPTZ){% endmacro %}
