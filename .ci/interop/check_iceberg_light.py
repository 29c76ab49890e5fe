"""Reads the Iceberg tables of a lake with polars, chDB and DataFusion, as of each kept commit, or 5 of them.

The count and a hash over all columns must be those of the as-of macro. Three tables of `current` are read, or all with
CASES "full".

usage: check_iceberg_light.py CASES LAKE
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import chdb
import datafusion
import duckdb
import polars
import pyarrow

from pyiceberg_core.datafusion import IcebergDataFusionTable

MOST = 5  # commits that are compared: all, or some from the first to the last
TABLES = ("bond_priced_deals", "bond_expected_tranches", "loan_priced_tranche_banks")


def through_datafusion(metadata: Path, snapshot: int, work: Path) -> pyarrow.Table:
    """DataFusion reads the newest snapshot alone: it gets metadata whose newest one is that which is wanted."""
    content = json.loads(metadata.read_text())
    content["current-snapshot-id"] = content["refs"]["main"]["snapshot-id"] = snapshot
    (work / "metadata.json").write_text(json.dumps(content))
    context = datafusion.SessionContext()
    context.register_table("t", IcebergDataFusionTable(["current", "t"], f"file://{work}/metadata.json", {}))
    return context.sql("SELECT * FROM t").to_arrow_table()


def main(cases: str, root: str) -> None:
    lake = Path(root).resolve()
    published = json.loads((lake / "_dealflow/iceberg/published.json").read_text())
    db = duckdb.connect(f"{lake}/catalog.duckdb", read_only=True)
    db.execute("SET TimeZone = 'UTC'")
    db.execute("SET VARIABLE lake = ?", [str(lake)])
    compared: dict[str, int] = {}
    work = Path(tempfile.mkdtemp())
    os.chdir("/")  # chDB opens files below the present folder only
    for entry in published["tables"]:
        name = entry["name"]
        if entry["namespace"] != "current" or cases != "full" and name not in TABLES:
            continue
        folder = lake / "_dealflow/iceberg/current" / name
        metadata = folder / f"metadata/v{entry['version']}.metadata.json"
        columns = {row[0]: row[1] for row in db.execute(f"DESCRIBE {name}").fetchall()}
        del columns["known_at"]
        texts = ", ".join(f'"{column}"::{typ}::VARCHAR' for column, typ in columns.items())
        snapshots = json.loads(metadata.read_text())["snapshots"]
        if len(snapshots) > MOST:
            snapshots = [snapshots[i * (len(snapshots) - 1) // (MOST - 1)] for i in range(MOST)]
        for snapshot in snapshots:
            number = snapshot["snapshot-id"]
            known_at = snapshot["summary"]["dealflow.known_at_us"]
            figures = f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM "
            want = db.execute(f"{figures} {name}_as_of(make_timestamptz({known_at}))").fetchone()
            for engine, read in {
                "polars": lambda: polars.scan_iceberg(str(metadata), snapshot_id=number).collect().to_arrow(),
                "polars, native": lambda: polars.scan_iceberg(str(metadata), snapshot_id=number, reader_override="native").collect().to_arrow(),
                "chDB": lambda: chdb.query(f"SELECT * FROM icebergLocal('{folder}') SETTINGS iceberg_snapshot_id = {number}", "ArrowTable"),
                "DataFusion": lambda: through_datafusion(metadata, number, work),
            }.items():
                rows = read()
                got = db.execute(figures + "rows").fetchone()
                assert got == want, f"{engine}: {name} as of {number}: {got}, want {want}"
                compared[engine] = compared.get(engine, 0) + 1
                del rows
    assert min(compared.values()) >= 9, compared
    print(f"Iceberg tables as of kept commits, equal to the catalog: {compared}")


main(*sys.argv[1:])
