"""Programs of another language, against a running server and a lake.

usage: check.py BASE_URL LAKE READER CASES

Reads one page of each feed with a client generated from the OpenAPI file, and the lake with DuckDB, with
pyarrow, and with the reader that was written from docs/reference/lake-format.md: one table, or all with CASES "full".
"""

import base64
import glob
import importlib
import subprocess
import sys
import tempfile

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


def read_by_hand(lake: str, reader: str, cases: str) -> None:
    """The example reader, which knows the lake's format alone, gives what the catalog gives."""
    catalog = duckdb.connect(f"{lake}/catalog.duckdb", read_only=True)
    catalog.execute("SET VARIABLE lake = ?", [lake])
    catalog.execute("SET TimeZone = 'UTC'")
    (first,) = catalog.execute("SELECT min(known_at)::VARCHAR FROM runs").fetchone()
    tables = ("loan_priced_tranche_banks", "bond_priced_deals", "bond_expected_tranches")
    for table in tables if cases == "full" else tables[:1]:
        for source, instant in ((table, []), (f"{table}_as_of(TIMESTAMPTZ '{first}')", [first])):
            printed = subprocess.run([sys.executable, reader, lake, table, *instant], check=True, capture_output=True).stdout
            with tempfile.NamedTemporaryFile(suffix=".csv") as file:
                file.write(printed)
                file.flush()
                got = f"read_csv('{file.name}', all_varchar = true, allow_quoted_nulls = false)"
                want = f"(SELECT columns(* EXCLUDE known_at)::VARCHAR FROM {source})"
                (more, less) = catalog.execute(
                    f"SELECT (SELECT count(*) FROM (FROM {got} EXCEPT ALL FROM {want})), (SELECT count(*) FROM (FROM {want} EXCEPT ALL FROM {got}))"
                ).fetchone()
            rows = printed.count(b"\n") - 1
            assert rows > 0 and more == less == 0, f"{source}: {rows} rows by hand, {more} of them not in the catalog, {less} lacking"
            print(f"{source}: {rows} rows by hand, the same as in the catalog")


if __name__ == "__main__":
    read_feeds(sys.argv[1])
    read_lake(sys.argv[2])
    read_by_hand(*sys.argv[2:])
