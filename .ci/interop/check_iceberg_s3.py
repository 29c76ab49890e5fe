"""Reads the Iceberg tables of a lake on S3 through its REST catalog, with pyiceberg and with DuckDB's extension.

Three tables of `current` as of each kept commit are compared with the catalog of a copy of that lake in a folder. The key
is that of the AWS tools' variables.

usage: check_iceberg_s3.py URL LAKE ENDPOINT
"""

import os
import sys
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg
from pyiceberg.catalog import load_catalog

TABLES = ("bond_priced_deals", "bond_expected_tranches", "loan_priced_tranche_banks")


def main(url: str, lake: str, endpoint: str) -> None:
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for extension in (duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg):
        db.execute(f"LOAD '{next(Path(extension.__file__).parent.rglob('*.duckdb_extension'))}'")
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"ATTACH '{lake}/catalog.duckdb' AS catalog (READ_ONLY)")
    db.execute("SET VARIABLE lake = ?", [str(Path(lake).resolve())])
    db.execute(
        f"""CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION 'us-east-1',
        ENDPOINT '{endpoint.removeprefix("http://")}', USE_SSL false, URL_STYLE 'path')"""
    )
    db.execute(f"ATTACH '' AS s3lake (TYPE iceberg, ENDPOINT '{url}/iceberg', AUTHORIZATION_TYPE 'none')")
    catalog = load_catalog(
        "lake",
        type="rest",
        uri=url + "/iceberg",
        **{"s3.endpoint": endpoint, "s3.access-key-id": key, "s3.secret-access-key": secret, "s3.region": "us-east-1", "s3.force-virtual-addressing": "false"},
    )
    db.execute("USE catalog")
    compared = 0
    for name in TABLES:
        table = catalog.load_table(f"current.{name}")
        texts = ", ".join(f'"{field.name}"::VARCHAR' for field in table.schema().fields)
        figures = f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM "
        for snapshot in table.metadata.snapshots:
            known_at = snapshot.summary["dealflow.known_at_us"]
            want = db.execute(f"{figures} {name}_as_of(make_timestamptz({known_at}))").fetchone()
            rows = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
            db.register("scanned", rows)
            for engine, source in {"pyiceberg": "scanned", "DuckDB": f"s3lake.current.{name} AT (VERSION => {snapshot.snapshot_id})"}.items():
                got = db.execute(figures + source).fetchone()
                assert got == want, f"{engine}: {name} on S3 as of {snapshot.snapshot_id}: {got}, want {want}"
                compared += 1
            db.unregister("scanned")
    assert compared >= 6 * len(TABLES), compared
    print(f"Iceberg tables on S3: {compared} as of commits, equal to the catalog")


main(*sys.argv[1:])
