{# Returns the exports of a table to apply, in their order: those after the newest commit that the model has rows of, or for
   a model that is built again, the newest complete one and those after it. An export that was applied before may be among
   them: it gives the same rows again. Each has inserts and deletes, files or none, and full: it replaces all rows. #}
{% macro exports_of(table) %}
  {% set pending, state = [], namespace(loaded=0) %}
  {% if execute %}
    {% if is_incremental() %}
      {% set state.loaded = run_query('SELECT coalesce(max("commit"), 0) FROM ' ~ this).columns[0].values()[0] %}
    {% endif %}
    {% for row in run_query("SELECT content FROM read_text('" ~ var('exports') ~ "/manifests/*.json') ORDER BY filename") %}
      {% set m = fromjson(row[0]) %}
      {% set complete = m['from'] is none %}
      {% set follows = not complete and m['to']['commit'] > state.loaded and (not pending or m['from']['commit'] >= pending[-1]['to']) %}
      {% for t in m['tables'] if t['table'] == table and (follows or complete and not is_incremental()) %}
        {% if complete %}{% do pending.clear() %}{% endif %}
        {% do pending.append({'to': m['to']['commit'], 'full': t['mode'] == 'full', 'inserts': file_of(t['inserts']), 'deletes': file_of(t['deletes'])}) %}
      {% endfor %}
    {% endfor %}
  {% endif %}
  {{ return(pending) }}
{% endmacro %}

{# Returns the place of a file that a manifest names; none for none. #}
{% macro file_of(file) %}{{ return(var('exports') ~ '/' ~ file['path'] if file else none) }}{% endmacro %}

{# Returns the deals that exports delete, as a query; none if there are none. #}
{% macro deleted_by(exports) %}
  {% set files = exports | map(attribute='deletes') | select | list %}
  {{ return("SELECT market, deal_id FROM read_parquet(['" ~ files | join("', '") ~ "'], hive_partitioning = false)" if files else none) }}
{% endmacro %}

{# Returns the statement to run before rows are added to an incremental model: all rows of each deal that changed go first, so
   that a bank that has left its deal is gone. #}
{% macro delete_changed(table) %}
  {% set pending = exports_of(table) if is_incremental() else [] %}
  {% set deleted = deleted_by(pending) %}
  {% if pending | selectattr('full') | list %}
    {{ return('DELETE FROM ' ~ this) }}
  {% elif deleted %}
    {{ return('DELETE FROM ' ~ this ~ ' t USING (' ~ deleted ~ ') d WHERE t.market = d.market AND t.deal_id = d.deal_id') }}
  {% endif %}
  {{ return('SELECT 1') }}
{% endmacro %}

{# Returns the query for the rows to add: of each deal those of the last export that has it. #}
{% macro inserted_by_exports(table) %}
  {% set pending = exports_of(table) %}
  {% set parts, state = [], namespace(first=0) %}
  {% for e in pending if e['full'] %}{% set state.first = pending.index(e) %}{% endfor %}
  {% for e in pending[state.first:] %}
    {% set deleted = deleted_by(pending[state.first + loop.index:]) %}
    {% if e['inserts'] %}
      {% do parts.append("SELECT * FROM read_parquet('" ~ e['inserts'] ~ "', hive_partitioning = false)" ~ (" WHERE (market, deal_id) NOT IN (" ~ deleted ~ ")" if deleted else "")) %}
    {% endif %}
  {% endfor %}
  {% if not parts and is_incremental() %}
    {% do parts.append('SELECT * FROM ' ~ this ~ ' WHERE false') %}
  {% endif %}
  {{ return(parts | join('\nUNION ALL BY NAME\n')) }}
{% endmacro %}
