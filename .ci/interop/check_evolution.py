"""Renames a column of an Iceberg table and adds one, as another program's ALTER TABLE would, and reads it.

The data files keep the old name: readers must find the column by its number. pyiceberg, DuckDB, polars and chDB read the
table as of each kept commit; the values must be those of the table as it is published. The new metadata goes into
FOLDER, as the table current.renamed of a warehouse, for check_spark.py.

usage: check_evolution.py LAKE FOLDER
"""

import json
import os
import sys
from pathlib import Path

import chdb
import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import polars
from pyiceberg.table import StaticTable

TABLE = "bond_priced_deals"
OLD, NEW, ADDED = "borrower_name", "issuer_name", "desk_note"


def main(root: str, folder: str) -> None:
    lake, out = Path(root).resolve(), Path(folder).resolve() / "current/renamed/metadata"
    out.mkdir(parents=True)
    published = json.loads((lake / "_dealflow/iceberg/published.json").read_text())
    (entry,) = [t for t in published["tables"] if t["namespace"] == "current" and t["name"] == TABLE]
    before = lake / "_dealflow/iceberg/current" / TABLE / f"metadata/v{entry['version']}.metadata.json"
    metadata = json.loads(before.read_text())
    schema = json.loads(json.dumps(metadata["schemas"][-1]))
    schema["schema-id"] += 1
    (field,) = [f for f in schema["fields"] if f["name"] == OLD]
    field["name"] = NEW
    metadata["last-column-id"] += 1
    schema["fields"].append({"id": metadata["last-column-id"], "name": ADDED, "required": False, "type": "string"})
    metadata["schemas"].append(schema)
    metadata["current-schema-id"] = schema["schema-id"]
    metadata["location"] = f"file://{out.parent}"
    for snapshot in metadata["snapshots"]:
        snapshot["schema-id"] = schema["schema-id"]
    after = out / "v1.metadata.json"
    after.write_text(json.dumps(metadata))
    (out / "version-hint.text").write_text("1")

    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for extension in (duckdb_extension_avro, duckdb_extension_iceberg):
        db.execute(f"LOAD '{next(Path(extension.__file__).parent.rglob('*.duckdb_extension'))}'")
    os.chdir("/")  # chDB opens files below the present folder only
    figures = "SELECT count(*), sum(hash(deal_id, {})::HUGEINT), count({}) FROM {}"
    read = 0
    for snapshot in metadata["snapshots"]:
        number = snapshot["snapshot-id"]
        at = f"iceberg_scan('{{}}', snapshot_from_id => {number}::UBIGINT)"
        want = (*db.execute(figures.format(OLD, OLD, at.format(before))).fetchone()[:2], 0)
        rows = {
            "DuckDB": at.format(after),
            "pyiceberg": StaticTable.from_metadata(str(after)).scan(snapshot_id=number).to_arrow(),
            "polars": polars.scan_iceberg(str(after), snapshot_id=number).collect().to_arrow(),
            "chDB": chdb.query(f"SELECT deal_id, {NEW}, {ADDED} FROM icebergLocal('{out.parent}') SETTINGS iceberg_snapshot_id = {number}", "ArrowTable"),
        }
        for engine, source in rows.items():
            if not isinstance(source, str):
                db.register("scanned", source)
                source = "scanned"
            got = db.execute(figures.format(NEW, ADDED, source)).fetchone()
            assert got == want, f"{engine}: the renamed column as of {number}: {got}, want {want}"
            read += 1
    print(f"a renamed and an added column: {read} times the values of before, through 4 readers")


main(*sys.argv[1:])
