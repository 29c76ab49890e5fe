"""Reads the tables of a server's Iceberg REST catalog with pyiceberg and with DuckDB's extension, with and without a token;
pyiceberg also gets one with the credentials of an account.

Each table of `current` is read as of each kept commit, and compared with the catalog of the lake that is served.

usage: check_iceberg_rest.py URL LAKE
"""

import base64
import json
import sys
import urllib.request
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg
from pyiceberg.catalog import load_catalog

TABLES = ("bond_priced_deals", "loan_priced_tranche_banks")


def token(url: str) -> str:
    """Returns a token of the built-in account."""
    request = urllib.request.Request(url + "/oauth/token", data=b"grant_type=client_credentials")
    request.add_header("Authorization", "Basic " + base64.b64encode(b"demo:demo").decode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["access_token"]


def main(url: str, lake: str) -> None:
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for extension in (duckdb_extension_avro, duckdb_extension_httpfs, duckdb_extension_iceberg):
        file = next(Path(extension.__file__).parent.rglob("*.duckdb_extension"))
        db.execute(f"LOAD '{file}'")
    db.execute(f"ATTACH '{lake}/catalog.duckdb' AS catalog (READ_ONLY)")
    db.execute("SET VARIABLE lake = ?", [str(Path(lake).resolve())])
    bearer = token(url)
    db.execute(f"ATTACH '' AS none (TYPE iceberg, ENDPOINT '{url}/iceberg', AUTHORIZATION_TYPE 'none')")
    db.execute(f"CREATE SECRET s (TYPE iceberg, TOKEN '{bearer}')")
    db.execute(f"ATTACH '' AS token (TYPE iceberg, ENDPOINT '{url}/iceberg', SECRET s)")
    compared = 0
    for properties in ({}, {"token": bearer}, {"credential": "demo:demo"}):
        catalog = load_catalog("lake", type="rest", uri=url + "/iceberg", **properties)
        assert catalog.list_namespaces() == [("current",), ("history",), ("snapshots",)]
        assert len(catalog.list_tables("history")) == 18
        assert not catalog.table_exists("current.none")
        for name in TABLES:
            table = catalog.load_table(f"current.{name}")
            for snapshot in table.metadata.snapshots:
                known_at = int(snapshot.summary["dealflow.known_at_us"])
                db.execute("USE catalog")
                (want,) = db.execute(f"SELECT count(*) FROM {name}_as_of(make_timestamptz({known_at}))").fetchone()
                got = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows
                assert got == want, f"pyiceberg: {name} at {snapshot.snapshot_id}: {got}, want {want}"
                for attached in ("none", "token"):
                    at = f"{attached}.current.{name} AT (VERSION => {snapshot.snapshot_id})"
                    (got,) = db.execute(f"SELECT count(*) FROM {at}").fetchone()
                    assert got == want, f"DuckDB: {at}: {got}, want {want}"
                compared += 3
    assert compared >= 36, compared
    print(f"the REST catalog at {url}: {compared} tables as of commits, equal to the catalog")


main(*sys.argv[1:])
