"""Runs the statements of `dealflow ddl` in PostgreSQL and in ClickHouse (chDB): tables, a complete export, one with changes.
Then all tables are those of the catalog as of each export's last commit, and so are the views of versions.

usage: check_warehouses.py DEALFLOW LAKE WORK POSTGRES      (POSTGRES is the address of a database, for psql)
"""

import json
import subprocess
import sys
from pathlib import Path

import chdb.session
import duckdb


class Postgres:
    """A database of PostgreSQL, through psql."""

    dialect, form = "postgres", "csv"

    def __init__(self, address: str) -> None:
        self.address = address

    def run(self, script: str) -> None:
        psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.address]
        subprocess.run(psql, input=script, text=True, check=True)

    def rows(self, query: str, file: Path) -> str:
        self.run(f"SET TimeZone = 'UTC';\n\\copy ({query}) TO '{file}' (FORMAT csv, HEADER)\n")
        return f"read_csv('{file}', header = true, all_varchar = true, allow_quoted_nulls = false)"


class ClickHouse:
    """A database of ClickHouse in this process."""

    dialect, form = "clickhouse", "parquet"

    def __init__(self, folder: Path) -> None:
        self.session = chdb.session.Session(str(folder))
        self.session.query("CREATE DATABASE IF NOT EXISTS lake; USE lake")

    def run(self, script: str) -> None:
        lines = "\n".join(line for line in script.split("\n") if not line.startswith("--"))
        for statement in lines.split(";\n"):
            if statement.strip():
                self.session.query(statement)

    def rows(self, query: str, file: Path) -> str:
        self.session.query(f"{query} INTO OUTFILE '{file}' TRUNCATE FORMAT Parquet")
        return f"read_parquet('{file}', binary_as_string = true)"


def figures(db: duckdb.DuckDBPyConnection, source: str, columns: list[str]) -> tuple:
    """Returns the number of rows, and the sum of a hash over the columns."""
    texts = ", ".join(f'"{c}"::VARCHAR' for c in columns)
    return db.execute(f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM {source}").fetchone()


def main() -> None:
    dealflow, lake, work, address = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]), sys.argv[4]
    run = lambda *words: subprocess.run([dealflow, *words], check=True, capture_output=True, text=True).stdout
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"ATTACH '{lake / 'catalog.duckdb'}' AS lake (READ_ONLY)")
    db.execute("SET VARIABLE lake = ?", [str(lake)])
    db.execute(db.execute("SELECT statement FROM lake.lake_help WHERE topic = 'attach'").fetchone()[0])
    for warehouse in ClickHouse(work / "clickhouse"), Postgres(address):
        target = work / f"for-{warehouse.dialect}"
        warehouse.run(run("ddl", warehouse.dialect))
        instants, compared = [], 0
        for since in ["--full", "--to", "1"], ["--since", "last"]:
            words = ["export", "--lake", str(lake), "--json", "--format", warehouse.form, *since, str(target)]
            result = json.loads(run(*words))
            subprocess.run(["chmod", "-R", "a+rX", str(target)], check=True)
            warehouse.run(run("ddl", warehouse.dialect, "--load", f"{target}/{result['manifest']}"))
            instants.append(result["export"]["to"]["known_at"])
            for table in result["export"]["tables"]:
                name = table["table"]
                compared += compare(db, warehouse, name, f"SELECT * FROM {name}", instants[-1], work)
        for known_at in instants:
            at = known_at.replace("T", " ").rstrip("Z")
            for table in result["export"]["tables"]:
                name = table["table"]
                then = f"SELECT * FROM {name}_versions WHERE valid_from <= '{at}' AND (valid_to IS NULL OR valid_to > '{at}')"
                compared += compare(db, warehouse, name, then, known_at, work)
        assert compared > 60, compared
        print(f"ddl {warehouse.dialect}: {compared} tables with rows are equal to the catalog after loads, and as of each")


def compare(db: duckdb.DuckDBPyConnection, warehouse: Postgres | ClickHouse, name: str, query: str, known_at: str, work: Path) -> bool:
    """Compares the answer of a warehouse with a table as of an instant; says whether it has rows."""
    macro = f"lake.{name}_as_of(TIMESTAMPTZ '{known_at}')"
    columns = [row[0] for row in db.execute(f"DESCRIBE FROM {macro}").fetchall()]
    db.execute(f"CREATE OR REPLACE TEMP TABLE got AS FROM {macro} LIMIT 0")
    file = work / "answer"
    names = ", ".join(f'"{c}"' for c in columns)
    source = warehouse.rows(query, file)
    db.execute(f"INSERT INTO got BY NAME SELECT {names} FROM {source}")
    want, got = figures(db, macro, columns), figures(db, "got", columns)
    assert got == want, f"{warehouse.dialect}: {query}: got {got}, want {want}"
    file.unlink()
    return want[0] > 0


main()
