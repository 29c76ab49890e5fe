"""Reads the Iceberg tables of a lake with pyiceberg and with DuckDB's extension, and compares each with the catalog.

For each kept commit, or 12 of them, the count and a hash over all columns of each table of `current` must be those of the as-of macro
at the commit's known_at. Tables of `history` and `snapshots` are compared with the views of these names.

usage: check_iceberg.py LAKE
"""

import json
import sys
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
from pyiceberg.table import StaticTable


def connect(lake: Path) -> duckdb.DuckDBPyConnection:
    """Opens the catalog, with the extensions that pip has installed."""
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for extension in (duckdb_extension_avro, duckdb_extension_iceberg):
        file = next(Path(extension.__file__).parent.rglob("*.duckdb_extension"))
        db.execute(f"LOAD '{file}'")
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"ATTACH '{lake / 'catalog.duckdb'}' AS lake (READ_ONLY)")
    db.execute("USE lake")
    db.execute("SET VARIABLE lake = ?", [str(lake)])
    return db


def figures(db: duckdb.DuckDBPyConnection, source: str, columns: list[str]) -> tuple:
    """Returns the number of rows, and the sum of a hash over the columns."""
    texts = ", ".join(f'"{c}"::VARCHAR' for c in columns)
    return db.execute(f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM {source}").fetchone()


def some(snapshots: list) -> list:
    """Returns all snapshots, or 12 of them from the first to the last."""
    return snapshots if len(snapshots) <= 12 else [snapshots[i * (len(snapshots) - 1) // 11] for i in range(12)]


def main() -> None:
    lake = Path(sys.argv[1]).resolve()
    published = json.loads((lake / "_dealflow/iceberg/published.json").read_text())
    db = connect(lake)
    compared = {"pyiceberg": 0, "duckdb": 0}
    for entry in published["tables"]:
        namespace, name = entry["namespace"], entry["name"]
        folder = lake / "_dealflow/iceberg" / namespace / name
        metadata = folder / f"metadata/v{entry['version']}.metadata.json"
        assert (folder / "metadata/version-hint.text").read_text() == str(entry["version"]), folder
        table = StaticTable.from_metadata(str(metadata))
        columns = [field.name for field in table.schema().fields]
        for snapshot in some(table.metadata.snapshots):
            known_at = int(snapshot.summary["dealflow.known_at_us"])
            if namespace == "current":
                source = f"{name}_as_of(make_timestamptz({known_at}))"
            elif name == "deal_versions":
                source = "history.deal_versions"
            else:
                source = f"{namespace}.{name}"
            want = figures(db, source, columns)
            what = f"{namespace}.{name} at snapshot {snapshot.snapshot_id}"
            rows = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
            db.register("scanned", rows)
            got = figures(db, "scanned", columns)
            db.unregister("scanned")
            assert got == want, f"pyiceberg: {what}: got {got}, want {want}"
            compared["pyiceberg"] += 1
            got = figures(db, f"iceberg_scan('{metadata}', snapshot_from_id => {snapshot.snapshot_id}::UBIGINT)", columns)
            assert got == want, f"DuckDB: {what}: got {got}, want {want}"
            compared["duckdb"] += 1
    assert compared["pyiceberg"] > len(published["tables"]), compared
    print(f"Iceberg tables as of commit {published['commit']}: equal to the catalog in {compared}")


main()
