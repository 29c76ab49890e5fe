"""A catalog on S3, opened where it lies by DuckDB of another version with its httpfs extension.

usage: check_s3.py ENDPOINT KEY SECRET LAKE

ENDPOINT is host:port; LAKE is s3://bucket/prefix.
"""

import pathlib
import sys

import duckdb
import duckdb_extension_httpfs


def main(endpoint: str, key: str, secret: str, lake: str) -> None:
    folder = pathlib.Path(duckdb_extension_httpfs.__file__).parent
    (extension,) = folder.glob("extensions/*/httpfs.duckdb_extension")
    con = duckdb.connect()
    con.execute(f"LOAD '{extension}'")
    con.execute(
        f"""CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION 'us-east-1',
        ENDPOINT '{endpoint}', USE_SSL false, URL_STYLE 'path')"""
    )
    con.execute(f"ATTACH '{lake}/catalog.duckdb' AS lake (READ_ONLY)")
    con.execute("USE lake")
    for table in ("bond_priced_deals", "loan_priced_tranche_banks"):
        (now,) = con.execute(f"SELECT count(*) FROM {table}").fetchone()
        (first,) = con.execute(f"SELECT count(*) FROM {table}_as_of((SELECT min(known_at) FROM runs))").fetchone()
        assert now and first, f"{table}: {now} rows now, {first} after the first run"
        print(f"{table}: {now} rows now, {first} after the first run, from {lake} through DuckDB {duckdb.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
