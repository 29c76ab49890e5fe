"""Reads the Iceberg tables of a lake with Trino through the REST catalog, and compares them with the catalog of the lake.

Three tables of `current` as of each kept commit must have the rows of the as-of macro: their number, and a hash over all
columns. Those of `history` and `snapshots` must have those of the views. A write must be refused. With ENDPOINT the files
are on S3, the key is that of the AWS tools' variables, and LAKE is a copy of that lake in a folder, with the same commits.

With "catalog" it makes the catalog that the properties of a page describe, at URL.

usage: check_trino.py PORT lake LAKE URL [ENDPOINT]
       check_trino.py PORT catalog PAGE URL
"""

import json
import re
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from check_warehouses import LOCAL, Trino, figures, s3

TABLES = ("bond_priced_deals", "bond_expected_tranches", "loan_priced_tranche_banks")


def connect(trino: Trino, url: str, endpoint: str) -> str:
    """Makes a catalog for the tables of a server, and returns its name."""
    name = "through_s3" if endpoint else "through_rest"
    properties = {"iceberg.catalog.type": "rest", "iceberg.rest-catalog.uri": url + "/iceberg", "iceberg.security": "read_only"}
    trino.catalog(name, "iceberg", properties | (s3(endpoint) if endpoint else LOCAL))
    return name


def make_catalog(port: str, page: str, url: str) -> None:
    """Makes the catalog lake of the properties in a page, with the address of a server."""
    (block,) = re.findall(r"etc/catalog/lake\.properties.*?```properties\n(.*?)```", Path(page).read_text(), re.DOTALL)
    properties = dict(line.split("=", 1) for line in block.splitlines())
    properties["iceberg.rest-catalog.uri"] = url + "/iceberg"
    Trino(port).catalog("lake", properties.pop("connector.name"), properties)


def compare(port: str, root: str, url: str, endpoint: str = "") -> None:
    began = time.monotonic()
    lake = Path(root).resolve()
    published = json.loads((lake / "_dealflow/iceberg/published.json").read_text())
    trino = Trino(port)
    catalog = connect(trino, url, endpoint)
    db = duckdb.connect(f"{lake}/catalog.duckdb", read_only=True)
    db.execute("SET TimeZone = 'UTC'")
    db.execute("SET VARIABLE lake = ?", [str(lake)])
    compared = rows = 0
    with tempfile.TemporaryDirectory() as work:
        for entry in published["tables"]:
            namespace, name = entry["namespace"], entry["name"]
            if name not in TABLES:
                continue
            metadata = json.loads((lake / f"_dealflow/iceberg/{namespace}/{name}/metadata/v{entry['version']}.metadata.json").read_text())
            columns = [field["name"] for field in metadata["schemas"][-1]["fields"]]
            names = ", ".join(f'"{column}"' for column in columns)
            for snapshot in metadata["snapshots"]:
                known_at = snapshot["summary"]["dealflow.known_at_us"]
                want = figures(db, f"{name}_as_of(make_timestamptz({known_at}))" if namespace == "current" else f"{namespace}.{name}", columns)
                at = f'{catalog}."{namespace}".{name} FOR VERSION AS OF BIGINT \'{snapshot["snapshot-id"]}\''
                types = db.execute(f"DESCRIBE SELECT {names} FROM {namespace + '.' if namespace != 'current' else ''}{name}").fetchall()
                casts = ", ".join(f'"{column}"::{typ} AS "{column}"' for column, typ, *_ in types)
                source = trino.rows(f"SELECT {names} FROM {at}", Path(work) / "answer")
                got = figures(db, f"(SELECT {casts} FROM {source})", columns)
                assert got == want, f"Trino: {at}: {got}, want {want}"
                compared += 1
                rows += want[0]
    times = compare_times(trino, catalog, db, metadata_of(lake, published, "bond_priced_deals"))
    refused(trino, catalog)
    print(f"Trino {trino.version()}: {lake.name}{' on S3' if endpoint else ''} through the REST catalog: {compared} tables as of commits with {rows} rows"
          f" and {times} as of times, equal to the catalog, {time.monotonic() - began:.0f} s", flush=True)


def metadata_of(lake: Path, published: dict, name: str) -> dict:
    (entry,) = [t for t in published["tables"] if t["namespace"] == "current" and t["name"] == name]
    return json.loads((lake / f"_dealflow/iceberg/current/{name}/metadata/v{entry['version']}.metadata.json").read_text())


def compare_times(trino: Trino, catalog: str, db: duckdb.DuckDBPyConnection, metadata: dict) -> int:
    """Compares a table as of times: when a commit was known, and a millisecond before the next one was."""
    snapshots, compared = metadata["snapshots"], 0
    for before, s in list(zip(snapshots, snapshots[1:]))[:3]:
        for ms, at in ((s["timestamp-ms"] - 1, before), (s["timestamp-ms"], s)):
            if ms < at["timestamp-ms"] or ms == s["timestamp-ms"] and snapshots[-1]["timestamp-ms"] == ms:
                continue
            instant = db.execute(f"SELECT strftime(make_timestamp_ms({ms}), '%Y-%m-%d %H:%M:%S.%g')").fetchone()[0]
            query = f"SELECT count(*) FROM {catalog}.\"current\".bond_priced_deals FOR TIMESTAMP AS OF TIMESTAMP '{instant} UTC'"
            ((got,),) = trino.execute(query)
            (want,) = db.execute(f"SELECT count(*) FROM bond_priced_deals_as_of(make_timestamptz({at['summary']['dealflow.known_at_us']}))").fetchone()
            assert got == want, f"{query}: {got}, want {want}"
            compared += 1
    assert compared, snapshots
    return compared


def refused(trino: Trino, catalog: str) -> None:
    """Writing into a table must fail."""
    try:
        trino.execute(f"DELETE FROM {catalog}.\"current\".bond_priced_deals WHERE market = 'IG'")
    except Exception as error:  # noqa: BLE001 # any of the client's own
        assert "read-only" in str(error) or "Access Denied" in str(error), error
        return
    raise AssertionError(f"{catalog}: a DELETE was accepted")


if __name__ == "__main__":
    port, step, *rest = sys.argv[1:]
    {"lake": compare, "catalog": make_catalog}[step](port, *rest)
