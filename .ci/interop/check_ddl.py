"""Parses the statements of `dealflow ddl` with sqlglot, each in its dialect: all tables, the load of an export, and the
registration of Iceberg tables. A dialect without such a statement must say so.

usage: check_ddl.py DEALFLOW LAKE ICEBERG-LAKE WORK
"""

import json
import subprocess
import sys

import sqlglot
from sqlglot import expressions

ICEBERG = {"trino": "", "clickhouse": "", "snowflake": "reads no tables in a folder", "bigquery": "reads no tables in a folder"}  # the others have no statement
DIALECTS = ["snowflake", "bigquery", "redshift", "athena", "trino", "databricks", "clickhouse", "postgres"]


def main() -> None:
    dealflow, lake, published, work = sys.argv[1:]
    run = lambda *words: subprocess.run([dealflow, *words], check=True, capture_output=True, text=True).stdout
    manifests = {}
    for form in "parquet", "csv":
        result = json.loads(run("export", "--lake", lake, "--json", "--full", "--to", "1", "--format", form, f"{work}/{form}"))
        result = json.loads(run("export", "--lake", lake, "--json", "--since", "last", "--format", form, f"{work}/{form}"))
        manifests[form] = f"{work}/{form}/{result['manifest']}"
    for dialect in DIALECTS:
        tables = parse(run("ddl", dialect), dialect)
        created = [s for s in tables if isinstance(s, expressions.Create)]
        assert len(created) >= 4 * 17, f"{dialect}: {len(created)} tables and views"
        load = parse(run("ddl", dialect, "--load", manifests["csv" if dialect == "postgres" else "parquet"]), dialect)
        registered = []
        refusal = ICEBERG.get(dialect, "no statement that registers")
        if not refusal:
            registered = parse(run("ddl", dialect, "--iceberg", "--lake", published), dialect)
            assert len(registered) == 3 + 17 + 18 + 17, f"{dialect}: {len(registered)} schemas and Iceberg tables"
        else:
            refused = subprocess.run([dealflow, "ddl", dialect, "--iceberg", "--lake", published], capture_output=True, text=True)
            assert refused.returncode != 0 and refusal in refused.stderr, f"{dialect}: {refused.stderr}"
        unread = {s.name.upper() for s in tables + load + registered if isinstance(s, expressions.Command)}
        assert unread <= UNKNOWN.get(dialect, set()), f"{dialect}: sqlglot does not know {unread}"
        print(f"ddl {dialect}: {len(tables)} statements for tables, {len(load)} for a load and {len(registered)} for Iceberg tables are parsed")


def parse(text: str, dialect: str) -> list[expressions.Expression]:
    """Parses one statement after the other: Athena's dialect is one of two by how the statement begins."""
    statements = []
    for part in text.split(";\n"):
        part = "\n".join(line for line in part.split("\n") if not line.startswith("--")).strip()
        if part.startswith("CALL "):  # sqlglot knows the arguments of a function, and keeps a CALL as a text
            part = "SELECT " + part.removeprefix("CALL ")
        if part:
            try:
                statements.append(sqlglot.parse_one(part, dialect=dialect))
            except sqlglot.errors.ParseError as error:
                raise AssertionError(f"{dialect}: {error}: {part[:400]}") from error
    return statements


# Statements that sqlglot keeps as a text, because it does not know them.
UNKNOWN: dict[str, set[str]] = {}

main()
