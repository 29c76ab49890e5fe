"""Loads the exports of a lake into a DuckDB database, each in one transaction, and can be killed at any time.

It knows nothing of dealflow but docs/how-to/export.md. A loader for another warehouse has the same steps.

usage: load_export.py TARGET DATABASE      (TARGET is a folder that `dealflow export` has written to)
"""

import json
import sys
from pathlib import Path

import duckdb


def load(db: duckdb.DuckDBPyConnection, target: Path) -> None:
    """Applies the exports that continue from what the database has."""
    db.execute("CREATE TABLE IF NOT EXISTS loaded (commit BIGINT, sha256 VARCHAR)")
    manifests = [json.loads(path.read_text()) for path in sorted((target / "manifests").glob("*.json"))]
    while True:
        last = db.execute("SELECT sha256 FROM loaded").fetchone()
        begins_with = lambda m: m["from"] is None if last is None else m["from"] is not None and m["from"]["sha256"] == last[0]
        following = [m for m in manifests if begins_with(m) and (last is None or m["to"]["sha256"] != last[0])]
        if not following:
            break
        export = max(following, key=lambda m: m["to"]["commit"])
        db.execute("BEGIN")
        for table in export["tables"]:
            apply(db, target, table)
        db.execute("DELETE FROM loaded")
        db.execute("INSERT INTO loaded VALUES (?, ?)", [export["to"]["commit"], export["to"]["sha256"]])
        db.execute("COMMIT")
        print(f"loaded commit {export['to']['commit']}: {len(export['tables'])} tables")
    loaded = db.execute("SELECT commit FROM loaded").fetchone()
    if loaded is None or any(m["to"]["commit"] > loaded[0] for m in manifests):
        sys.exit(f"{target} has no export that continues commit {loaded[0] if loaded else 0}: load it into a new database")


def apply(db: duckdb.DuckDBPyConnection, target: Path, table: dict) -> None:
    """Deletes the deals that changed, or all rows, and then inserts the rows."""
    name, deletes, inserts = table["table"], table["deletes"], table["inserts"]
    exists = db.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = ?", [name]).fetchone()[0]
    if inserts is not None and not exists:
        db.execute(f"CREATE TABLE {name} AS FROM read_parquet('{target / inserts['path']}', hive_partitioning = false) LIMIT 0")
    elif not exists:
        return
    if table["mode"] == "full":
        db.execute(f"DELETE FROM {name}")
    elif deletes is not None:
        changed = f"SELECT market, deal_id FROM read_parquet('{target / deletes['path']}', hive_partitioning = false)"
        db.execute(f"DELETE FROM {name} t USING ({changed}) d WHERE t.market = d.market AND t.deal_id = d.deal_id")
    if inserts is not None:
        db.execute(f"INSERT INTO {name} BY NAME FROM read_parquet('{target / inserts['path']}', hive_partitioning = false)")


if __name__ == "__main__":
    with duckdb.connect(sys.argv[2]) as connection:
        load(connection, Path(sys.argv[1]))
