"""Programs of another language, against a running server and a lake.

usage: check.py BASE_URL LAKE

Reads one page of each feed with a client generated from the OpenAPI file, and the lake with DuckDB and
pyarrow.
"""

import base64
import glob
import importlib
import sys

import duckdb
import httpx
import pyarrow.parquet

MARKETS = {"bond": ["ig", "hy", "em"], "loan": ["ll", "cf", "af"]}


def token(base_url: str) -> str:
    basic = base64.b64encode(b"demo:demo").decode()
    answer = httpx.post(
        f"{base_url}/oauth/token",
        data={"grant_type": "client_credentials"},
        headers={"Authorization": f"Basic {basic}"},
    )
    answer.raise_for_status()
    return answer.json()["access_token"]


def read_feeds(base_url: str) -> None:
    from dealflow_client import AuthenticatedClient

    client = AuthenticatedClient(base_url=base_url, token=token(base_url), raise_on_unexpected_status=True)
    for service, markets in MARKETS.items():
        for market in markets:
            for kind in ("priced", "expected"):
                module = importlib.import_module(f"dealflow_client.api.{service}_{market}.{market}_{kind}_deals")
                page = module.sync(client=client, page_size=25)
                deals = getattr(page.field_embedded, f"{kind}_deals")
                assert deals, f"{service}/{market}/{kind}: the page is empty"
                print(f"{service}/{market}/{kind}: {len(deals)} deals through the generated client")


def read_lake(lake: str) -> None:
    catalog = duckdb.connect(f"{lake}/catalog.duckdb", read_only=True)
    catalog.execute("SET VARIABLE lake = ?", [lake])
    for table in ("bond_priced_deals", "loan_priced_tranche_banks"):
        (now,) = catalog.execute(f"SELECT count(*) FROM {table}").fetchone()
        (first,) = catalog.execute(f"SELECT count(*) FROM {table}_as_of((SELECT min(known_at) FROM runs))").fetchone()
        assert now and first, f"{table}: {now} rows now, {first} after the first run"
        print(f"{table}: {now} rows now, {first} after the first run, through DuckDB {duckdb.__version__}")
    rows = 0
    for path in glob.glob(f"{lake}/snapshots/bond_priced_deals/*/*/*.parquet"):
        file = pyarrow.parquet.ParquetFile(path)
        field = file.schema_arrow.field("nominal_usd")
        assert str(field.type) == "decimal128(24, 6)", field
        rows += file.read().num_rows
    assert rows, "no rows through pyarrow"
    print(f"{rows} snapshot rows through pyarrow {pyarrow.__version__}")


if __name__ == "__main__":
    read_feeds(sys.argv[1])
    read_lake(sys.argv[2])
