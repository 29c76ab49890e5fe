"""The seventeen tables from saved pages, by pyarrow.

usage: pyarrow_json.py --pages DIR --out DIR

pyarrow.json reads each page with a given schema, pages side by side: that takes less time than json.loads
alone. Decimals are read from the digits and are exact, and more fraction digits than the type has are an
error. There is no reading of maps: what stands under a map is inferred, as a struct of all names seen on
the page, so that its numbers go through floats and a null there cannot be told from an absent entry.
"""

import sys

sys.dont_write_bytecode = True  # nothing is left beside the programs

import concurrent.futures
import functools
import pathlib
import re

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet

import tables

TYPES = {
    "UTF8": pa.string(),
    "INT64": pa.int64(),
    "INT32": pa.int32(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP(µs, UTC)": pa.timestamp("us", "UTC"),
}


def column_type(name: str) -> pa.DataType:
    if decimal := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", name):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return TYPES[name]


def read_type(shape: dict | list | str) -> pa.DataType:
    """A shape as pyarrow.json reads it: without maps, and with dates as text."""
    if isinstance(shape, dict):
        return pa.struct([(name, read_type(member)) for name, member in shape.items() if not isinstance(member, tuple)])
    if isinstance(shape, list):
        return pa.list_(read_type(shape[0]))
    return pa.string() if shape == "DATE" else column_type(shape)


def deals(page: pathlib.Path, service: str, kind: str) -> pa.StructArray:
    """The deals of a page."""
    list_ = f"{kind}Deals"
    shape = {"_embedded": {list_: [tables.shape(service, kind)]}}
    whole = pa.json.read_json(
        page,
        read_options=pa.json.ReadOptions(use_threads=False, block_size=page.stat().st_size),
        parse_options=pa.json.ParseOptions(explicit_schema=pa.schema(read_type(shape).fields), unexpected_field_behavior="infer"),
    )
    return pc.list_flatten(pc.struct_field(whole["_embedded"].combine_chunks(), list_))


def rows(table: tables.Table, source: pa.StructArray, deal_id: str, base: str) -> pa.Table:
    """The rows of a table that come of the deals of a page."""
    keys = {"market": source.field("market"), "deal_id": source.field(deal_id)}
    entries = source
    for place, ordinal in zip(table.lists, table.ordinals):
        parents, entries = (map_entries if table.is_map else list_entries)(entries, place)
        keys = {name: key.take(parents) for name, key in keys.items()} | {ordinal: ordinals(parents)}
    return pa.table(keys | {c.name: value(c, entries, base) for c in table.columns})


def list_entries(source: pa.StructArray, place: str) -> tuple[pa.Array, pa.Array]:
    """The entries of a list in each row, and the row of each."""
    lists = member(source, place)
    return pc.list_parent_indices(lists), pc.list_flatten(lists)


def map_entries(source: pa.StructArray, place: str) -> tuple[pa.Array, pa.Array]:
    """The entries of a map in each row, sorted by key, and the row of each."""
    found = [pa.table({"row": pa.array([], pa.int64()), "key": pa.array([], pa.string()), "value": pa.array([], pa.float64())})]
    for name in names_seen(source, place):
        values = pc.struct_field(source, [*place.split("."), name])
        row = pc.indices_nonzero(values.is_valid()).cast(pa.int64())
        found.append(pa.table({"row": row, "key": pa.repeat(name, len(row)), "value": values.take(row).cast(pa.float64())}))
    entries = pa.concat_tables(found).sort_by([("row", "ascending"), ("key", "ascending")])
    return entries["row"].combine_chunks(), entries.select(["key", "value"]).to_struct_array().combine_chunks()


def names_seen(source: pa.StructArray, place: str) -> list[str]:
    """The names in all maps of a page. A map that no deal of the page has was not inferred."""
    around, _, map_ = place.rpartition(".")
    known = {field.name: field.type for field in member(source, around).type.fields}
    return [field.name for field in known[map_].fields] if pa.types.is_struct(known.get(map_, pa.null())) else []


def ordinals(parents: pa.Array) -> pa.Array:
    """The place of each entry among those of its parent, from 1; parents ascend."""
    counts = parents.value_counts().field("counts")
    before = pc.subtract(pc.cumulative_sum(counts), counts)
    first = before.take(parents.dictionary_encode().indices)
    return pc.subtract(pa.arange(1, len(parents) + 1), first).cast(pa.int32())


def value(column: tables.Column, entries: pa.Array, base: str) -> pa.Array:
    """A column's values."""
    if column.part == "entry":
        return entries
    if column.part in ("key", "value"):
        return entries.field(column.part).cast(column_type(column.type))
    values = member(entries, column.place)
    if column.part == "href":
        return pc.replace_substring_regex(values, f"^{re.escape(base)}/", "/")
    if column.part == "id":
        return pc.struct_field(pc.extract_regex(values, "/(?P<id>[0-9]+)$"), "id").cast(pa.int64())
    return values.cast(column_type(column.type))


def member(source: pa.StructArray, place: str) -> pa.Array:
    return pc.struct_field(source, place.split("."))


def flatten(service: str, kind: str, base: str, page: pathlib.Path) -> list[pa.Table]:
    """The rows that a page gives each of its feed's tables."""
    source = deals(page, service, kind)
    return [rows(table, source, tables.FEEDS[service, kind], base) for table in tables.tables_of(service, kind)]


def main() -> None:
    given = tables.arguments(__doc__)
    base = tables.base_url(given.pages)
    written = {}
    with concurrent.futures.ThreadPoolExecutor(pa.cpu_count()) as pool:
        for service, kind in tables.FEEDS:
            parts = pool.map(functools.partial(flatten, service, kind, base), tables.pages(given.pages, service, kind))
            for table, of_pages in zip(tables.tables_of(service, kind), zip(*parts)):
                whole = pa.concat_tables(of_pages)
                pa.parquet.write_table(whole, given.out / f"{table.name}.parquet", compression="zstd")
                written[table.name] = whole.num_rows
    tables.result("pyarrow", pa.__version__, written, given.out)


if __name__ == "__main__":
    main()
