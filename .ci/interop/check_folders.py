"""Reads the folders of a lake's tables with the default calls of other readers, and compares with the catalog.

Each call gets the folder of a table, and nothing else: all rows of snapshots and of history, with their columns. The
lake must not have replaced files. Two tables are read, or all with CASES "full".

usage: check_folders.py CASES LAKE …
"""

import sys
from collections.abc import Callable
from pathlib import Path

import chdb
import datafusion
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

COLUMNS = "count(*), sum(deal_id), count(DISTINCT market), min(market)"


def through_datafusion(folder: str) -> pyarrow.Table:
    context = datafusion.SessionContext()
    context.register_parquet("folder", folder + "/")
    return context.sql("SELECT * FROM folder").to_arrow_table()


def through_datafusion_sql(folder: str) -> pyarrow.Table:
    context = datafusion.SessionContext()
    context.sql(f"CREATE EXTERNAL TABLE folder STORED AS PARQUET LOCATION '{folder}/'").collect()
    return context.sql("SELECT * FROM folder").to_arrow_table()


CALLS: dict[str, Callable[[str], object]] = {
    "pandas.read_parquet": pandas.read_parquet,
    "pyarrow.parquet.read_table": pyarrow.parquet.read_table,
    "pyarrow.dataset": lambda folder: pyarrow.dataset.dataset(folder).to_table(),
    "pyarrow.dataset, hive": lambda folder: pyarrow.dataset.dataset(folder, partitioning="hive").to_table(),
    "polars.read_parquet of a folder": lambda folder: polars.read_parquet(folder).to_arrow(),
    "polars.scan_parquet of a glob": lambda folder: polars.scan_parquet(folder + "/**/*.parquet").collect().to_arrow(),
    "DuckDB": lambda folder: duckdb.sql(f"FROM '{folder}/**/*.parquet'").to_arrow_table(),
    "DuckDB, hive": lambda folder: duckdb.sql(f"FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = true)").to_arrow_table(),
    "DataFusion": through_datafusion,
    "DataFusion SQL": through_datafusion_sql,
    "chDB": lambda folder: chdb.query(f"SELECT * FROM file('{folder}/**/*.parquet')", "ArrowTable"),
}


def main(cases: str, *lakes: str) -> None:
    read = 0
    for lake in lakes:
        root = Path(lake).resolve()
        with duckdb.connect(f"{root}/catalog.duckdb", read_only=True) as catalog:
            catalog.execute("SET VARIABLE lake = ?", [str(root)])
            for kind in ("snapshots", "history"):
                tables = sorted(folder.name for folder in (root / kind).iterdir() if folder.name != "deal_versions")
                if cases != "full":
                    tables = [table for table in tables if table in ("bond_priced_deals", "loan_priced_tranche_banks")]
                for table in tables:
                    days = ", typeof(any_value(snapshot_date)), max(snapshot_date)" if kind == "snapshots" else ""
                    want = catalog.execute(f"SELECT {COLUMNS}{days} FROM {kind}.{table}").fetchone()
                    for name, call in CALLS.items():
                        rows = call(f"{root}/{kind}/{table}")
                        got = duckdb.sql(f"SELECT {COLUMNS}{days} FROM rows").fetchone()
                        assert got == want, f"{name}: {root}/{kind}/{table}: {got}, want {want}"
                        read += 1
    assert read >= len(lakes) * len(CALLS) * 3, read
    print(f"folders of {len(lakes)} lakes through {len(CALLS)} default calls: {read} times the rows of the catalog")


main(*sys.argv[1:])
