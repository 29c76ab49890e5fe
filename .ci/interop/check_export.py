"""Exports a lake commit by commit, loads the exports with examples/load_export.py, and compares all tables with the
catalog as of each commit that was exported last.

usage: check_export.py DEALFLOW LAKE LOADER WORK
"""

import json
import subprocess
import sys
from pathlib import Path

import duckdb


def figures(db: duckdb.DuckDBPyConnection, source: str, columns: list[str]) -> tuple:
    """Returns the number of rows, and the sum of a hash over the columns."""
    texts = ", ".join(f'"{c}"::VARCHAR' for c in columns)
    return db.execute(f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM {source}").fetchone()


def main() -> None:
    dealflow, lake, loader, work = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], Path(sys.argv[4])
    target, database = work / "export", work / "loaded.duckdb"
    compared = 0
    steps = [["--full", "--to", "1"], ["--since", "last", "--to", "2"], ["--since", "last"], ["--since", "last"]]
    for step in steps:
        export = [dealflow, "export", "--lake", str(lake), "--json", *step, str(target)]
        result = json.loads(subprocess.run(export, check=True, capture_output=True).stdout)
        assert (result["outcome"] == "unchanged") == (result["export"] is None), result
        subprocess.run([sys.executable, loader, str(target), str(database)], check=True)
        if result["export"] is None:
            continue
        known_at = result["export"]["to"]["known_at"]
        db = duckdb.connect(str(database), read_only=True)
        db.execute("SET TimeZone = 'UTC'")
        db.execute(f"ATTACH '{lake / 'catalog.duckdb'}' AS lake (READ_ONLY)")
        db.execute("SET VARIABLE lake = ?", [str(lake)])
        (path,) = db.execute("SELECT statement FROM lake.lake_help WHERE topic = 'attach'").fetchone()
        db.execute(path)
        for table in result["export"]["tables"]:
            name = table["table"]
            columns = [c[0] for c in db.execute(f"DESCRIBE {name}").fetchall() if c[0] != "commit"]
            want = figures(db, f"lake.{name}_as_of(TIMESTAMPTZ '{known_at}')", columns)
            got = figures(db, f"loaded.main.{name}", columns)
            assert got == want, f"{name} as of {known_at}: the loader has {got}, the lake says {want}"
            compared += want[0] > 0
        db.close()
    assert compared > 30, compared
    print(f"exports that examples/load_export.py has loaded: {compared} tables with rows are equal to the catalog")


main()
