"""Parses the statements of `dealflow ddl` with sqlglot, each in its dialect: all tables, and the load of an export.

usage: check_ddl.py DEALFLOW LAKE WORK
"""

import json
import subprocess
import sys

import sqlglot
from sqlglot import expressions

DIALECTS = ["snowflake", "bigquery", "redshift", "athena", "trino", "databricks", "clickhouse", "postgres"]


def main() -> None:
    dealflow, lake, work = sys.argv[1:]
    run = lambda *words: subprocess.run([dealflow, *words], check=True, capture_output=True, text=True).stdout
    manifests = {}
    for form in "parquet", "csv":
        result = json.loads(run("export", "--lake", lake, "--json", "--full", "--to", "1", "--format", form, f"{work}/{form}"))
        result = json.loads(run("export", "--lake", lake, "--json", "--since", "last", "--format", form, f"{work}/{form}"))
        manifests[form] = f"{work}/{form}/{result['manifest']}"
    for dialect in DIALECTS:
        tables = sqlglot.parse(run("ddl", dialect), dialect=dialect)
        created = [s for s in tables if isinstance(s, expressions.Create)]
        assert len(created) >= 4 * 17, f"{dialect}: {len(created)} tables and views"
        load = sqlglot.parse(run("ddl", dialect, "--load", manifests["csv" if dialect == "postgres" else "parquet"]), dialect=dialect)
        commands = {type(s).__name__ for s in tables + load if isinstance(s, expressions.Command)}
        unread = [s for s in tables + load if isinstance(s, expressions.Command)]
        assert not [s for s in unread if s.name.upper() not in UNKNOWN.get(dialect, [])], (dialect, commands, [str(s)[:100] for s in unread][:3])
        print(f"ddl {dialect}: {len(tables)} statements for tables and {len(load)} for a load are parsed")


# Statements that sqlglot keeps as a text, because it does not know them.
UNKNOWN: dict[str, list[str]] = {}

main()
