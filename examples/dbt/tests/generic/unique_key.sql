{# No two rows have the same values in the columns of a key. #}
{% test unique_key(model, columns) %}
SELECT {{ columns | join(', ') }}, count(*) AS rows FROM {{ model }} GROUP BY ALL HAVING count(*) > 1
{% endtest %}
