"""The seventeen tables from saved pages, by polars.

usage: polars_json.py --pages DIR --out DIR

The structure of a deal is given, so nothing is inferred. read_json uses one thread a page, so that pages
are read side by side; each feed's deals then lie in one frame, from which its tables are taken. Polars takes
decimals through floats: they have their decimal type, and are exact up to some fifteen digits.
"""

import sys

sys.dont_write_bytecode = True  # nothing is left beside the programs

import concurrent.futures
import pathlib
import re

import polars as pl

import tables

TYPES = {
    "UTF8": pl.String,
    "INT64": pl.Int64,
    "INT32": pl.Int32,
    "BOOLEAN": pl.Boolean,
    "DATE": pl.Date,
    "TIMESTAMP(µs, UTC)": pl.Datetime("us", "UTC"),
}


def data_type(shape: dict | list | tuple | str) -> pl.DataType:
    """A shape as polars wants it."""
    if isinstance(shape, dict):
        return pl.Struct({name: data_type(member) for name, member in shape.items()})
    if isinstance(shape, list):
        return pl.List(data_type(shape[0]))
    if isinstance(shape, tuple):
        return pl.Map(pl.String, data_type(shape[1]))
    if decimal := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", shape):
        return pl.Decimal(int(decimal[1]), int(decimal[2]))
    return TYPES[shape]


def deals(pool: concurrent.futures.Executor, folder: pathlib.Path, service: str, kind: str) -> pl.DataFrame:
    """The deals of a feed, a column for each member."""
    list_ = f"{kind}Deals"
    schema = {"_embedded": pl.Struct({list_: data_type([tables.shape(service, kind)])})}
    pages = pool.map(lambda page: pl.read_json(page, schema=schema), tables.pages(folder, service, kind))
    deal = pl.col("_embedded").struct.field(list_).explode()
    return pl.concat(pages).select(deal).unnest(list_)


def rows(table: tables.Table, source: pl.LazyFrame, deal_id: str, base: str) -> pl.LazyFrame:
    """The rows of a table."""
    columns = [expression(c, bool(table.lists), base).alias(c.name) for c in table.columns]
    if not table.lists:
        return source.select("market", pl.col(deal_id).alias("deal_id"), *columns)
    entries = at(table.lists[0])
    if table.is_map:
        entries = entries.map.entries().list.eval(pl.element().sort_by(pl.element().struct.field("key")))
    level = source.select("market", pl.col(deal_id).alias("deal_id"), entry=entries)
    for depth, ordinal in enumerate(table.ordinals):
        if depth:
            level = level.with_columns(entry=at("entry." + table.lists[depth]))
        numbers = pl.int_ranges(1, pl.col("entry").list.len().cast(pl.Int32) + 1, dtype=pl.Int32)
        level = level.with_columns(numbers.alias(ordinal)).explode("entry", ordinal, empty_as_null=False, keep_nulls=False)
    return level.select("market", "deal_id", *table.ordinals, *columns)


def expression(column: tables.Column, in_list: bool, base: str) -> pl.Expr:
    """A column's value."""
    if column.part == "entry":
        return pl.col("entry")
    if column.part in ("key", "value"):
        return at(f"entry.{column.part}")
    value = at(("entry." if in_list else "") + column.place)
    if column.part == "href":
        return pl.when(value.str.starts_with(base + "/")).then(value.str.strip_prefix(base)).otherwise(value)
    if column.part == "id":
        return value.str.extract(r"/([0-9]+)$").cast(pl.Int64, strict=False)
    return value


def at(place: str) -> pl.Expr:
    first, *path = place.split(".")
    expr = pl.col(first)
    for name in path:
        expr = expr.struct.field(name)
    return expr


def main() -> None:
    given = tables.arguments(__doc__)
    base = tables.base_url(given.pages)
    written = {}
    with concurrent.futures.ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        for (service, kind), deal_id in tables.FEEDS.items():
            source = deals(pool, given.pages, service, kind).lazy()
            wanted = tables.tables_of(service, kind)
            for table, frame in zip(wanted, pl.collect_all([rows(table, source, deal_id, base) for table in wanted])):
                frame.write_parquet(given.out / f"{table.name}.parquet", compression="zstd")
                written[table.name] = frame.height
    tables.result("polars", pl.__version__, written, given.out)


if __name__ == "__main__":
    main()
