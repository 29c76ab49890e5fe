{# Returns the statement that lets this connection find what the lake's macros read (docs/how-to/attach.md). #}
{% macro attach_lake() %}
  {% if execute %}
    {{ return(run_query("SELECT statement FROM lake.lake_help WHERE topic = 'attach'").columns[0].values()[0]) }}
  {% endif %}
{% endmacro %}
