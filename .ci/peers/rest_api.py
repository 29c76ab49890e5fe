"""All twelve lists of the API to Parquet files on the local disk, by dlt's rest_api source.

usage: DEALFLOW_CLIENT_ID=… DEALFLOW_CLIENT_SECRET=… rest_api.py --api BASE --out DIR [--workers N]

Lists become child tables and objects columns, as dlt does by itself. The documented columns have their
types given: left to inference, 500000000 and 5e8 would make two columns of an amount, and 2031-01-26 and
7yr two of a maturity. The statistics maps stay JSON in a column of the deal; else each of their names
would become a column.

The settings are those that dlt's documentation gives for speed: lists are pulled side by side, what was
extracted is cut into files so that processes can normalise them side by side, working files are not
compressed, and there is no telemetry. Everything lies below --out: the tables in data/, dlt's state in work/.
"""

import sys

sys.dont_write_bytecode = True  # nothing is left beside the programs

import argparse
import base64
import os
import pathlib
import re

import dlt
from dlt.common.configuration.specs import configspec
from dlt.common.normalizers.naming.snake_case import NamingConvention
from dlt.destinations import filesystem
from dlt.extract import DltSource
from dlt.sources.helpers.rest_client.auth import OAuth2ClientCredentials
from dlt.sources.rest_api import rest_api_source

import tables

MARKETS = {"bond": ("ig", "hy", "em"), "loan": ("ll", "cf", "af")}

TYPES = {
    "UTF8": {"data_type": "text"},
    "INT64": {"data_type": "bigint"},
    "INT32": {"data_type": "bigint", "precision": 32},
    "BOOLEAN": {"data_type": "bool"},
    "DATE": {"data_type": "date"},
    "TIMESTAMP(µs, UTC)": {"data_type": "timestamp", "timezone": True},
}

NAMING = NamingConvention()


@configspec
class BasicClientCredentials(OAuth2ClientCredentials):
    """Client credentials in a Basic header, where dlt's own class sends them in the form."""

    def build_access_token_request(self) -> dict:
        basic = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        return {"headers": {"Authorization": f"Basic {basic}"}, "data": {"grant_type": "client_credentials"}}


def path(place: str) -> str:
    """The name that dlt makes of a place."""
    return NAMING.make_path(*(NAMING.normalize_identifier(name) for name in place.split(".")))


def column(name: str, type_: str) -> dict:
    """The hint for a column; those of child tables want its name inside."""
    if decimal := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", type_):
        return {"name": name, "data_type": "decimal", "precision": int(decimal[1]), "scale": int(decimal[2])}
    return {"name": name} | TYPES[type_]


def columns(table: tables.Table) -> dict:
    """The hints for a table's columns."""
    if table.columns[0].part == "entry":
        return {"value": column("value", table.columns[0].type)}
    return {path(c.place): column(path(c.place), "UTF8" if c.part == "id" else c.type) for c in table.columns}


def resource(service: str, market: str, kind: str) -> dict:
    """One list of the API. The markets of a service share their tables."""
    deals, *children = tables.tables_of(service, kind)
    deal_id = path(tables.FEEDS[service, kind])
    maps = {path(table.lists[0]): {"data_type": "json"} for table in children if table.is_map}
    return {
        "name": f"{service}_{market}_{kind}",
        "table_name": deals.name,
        "parallelized": True,
        "columns": columns(deals) | {deal_id: column(deal_id, "INT64")} | maps,
        "endpoint": {"path": f"{service}/{market}/{kind}-deal", "data_selector": f"_embedded.{kind}Deals"},
    }


def named(table: tables.Table) -> str:
    """The name that dlt gives a table: a child's is made of its parent's and its place."""
    service, kind, *_ = table.name.split("_")
    return NAMING.make_path(f"{service}_{kind}_deals", *map(path, table.lists))


def nested_hints(table_name: str) -> dict:
    """The hints for the child tables of a table of deals."""
    service, kind, _ = table_name.split("_")
    children = [table for table in tables.tables_of(service, kind) if table.lists and not table.is_map]
    return {tuple(map(path, table.lists)): {"columns": columns(table)} for table in children}


def source(api: str) -> DltSource:
    """The twelve lists of the API at a base URL."""
    lists = rest_api_source(
        {
            "client": {
                "base_url": f"{api}/v3/",
                "auth": BasicClientCredentials(
                    access_token_url=f"{api}/oauth/token",
                    client_id=os.environ["DEALFLOW_CLIENT_ID"],
                    client_secret=os.environ["DEALFLOW_CLIENT_SECRET"],
                ),
                "paginator": {"type": "json_link", "next_url_path": "_links.next.href"},
            },
            "resource_defaults": {"write_disposition": "replace", "endpoint": {"params": {"pageSize": 1000}}},
            "resources": [resource(s, m, kind) for s, markets in MARKETS.items() for m in markets for kind in ("priced", "expected")],
        },
        name="dealflow",
    )
    for list_ in lists.resources.values():
        list_.apply_hints(nested_hints=nested_hints(list_.table_name))  # a rest_api configuration takes one level only
    return lists


def configure(work: pathlib.Path, workers: int) -> None:
    """dlt's settings; it reads them from the environment."""
    os.environ |= {
        "DLT_DATA_DIR": str(work),
        "DLT_PROJECT_DIR": str(work),
        "RUNTIME__DLTHUB_TELEMETRY": "false",
        "RUNTIME__LOG_LEVEL": "ERROR",
        "EXTRACT__WORKERS": str(workers),
        "SOURCES__DATA_WRITER__FILE_MAX_ITEMS": "1000",
        "NORMALIZE__WORKERS": str(workers),
        "DATA_WRITER__DISABLE_COMPRESSION": "true",
        "LOAD__WORKERS": str(workers),
        "LOAD__DELETE_COMPLETED_JOBS": "true",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--api", required=True, help="base URL of the API")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for all that is written; made if it is not there")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="lists pulled, processes normalising and files loaded at once")
    given = parser.parse_args()
    out = given.out.resolve()
    (out / "work").mkdir(parents=True, exist_ok=True)
    configure(out / "work", given.workers)
    pipeline = dlt.pipeline(
        "dealflow",
        destination=filesystem(bucket_url=(out / "data").as_uri()),
        dataset_name="deals",
        pipelines_dir=str(out / "work"),
    )
    pipeline.run(source(given.api), loader_file_format="parquet").raise_on_failed_jobs()
    counts = pipeline.last_trace.last_normalize_info.row_counts
    known = {named(table): table.name for feed in tables.FEEDS for table in tables.tables_of(*feed)}
    written = {known[name]: n for name, n in counts.items() if name in known}
    tables.result("dlt", dlt.__version__, written, out / "data")


if __name__ == "__main__":
    main()
