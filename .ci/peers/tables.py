"""The flattened tables as data, read from testdata/tables.md, and what the flattening programs share.

A place is a dotted path into the JSON of one deal, or, for child tables, of one list entry.
"""

import argparse
import dataclasses
import functools
import json
import pathlib
import re

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "tables.md"

# Where the id of a deal stands, and what sorts of feed there are.
FEEDS = {
    ("bond", "priced"): "dealId",
    ("bond", "expected"): "id",
    ("loan", "priced"): "dealId",
    ("loan", "expected"): "dealId",
}


@dataclasses.dataclass(frozen=True)
class Column:
    """One column: its name, its type in the document's words, and its place."""

    name: str
    type: str
    place: str
    part: str = ""  # of a link: "href" relative to the API's base, or "id", the number at its end; of a map: "key" or "value"


@dataclasses.dataclass(frozen=True)
class Table:
    """One table of a feed. lists are the places of the lists around a row, the outermost first."""

    name: str
    lists: tuple[str, ...]
    is_map: bool
    columns: tuple[Column, ...]

    @property
    def ordinals(self) -> tuple[str, ...]:
        return (("tranche_ordinal", "ordinal")[-len(self.lists):]) if self.lists else ()


@functools.cache
def tables_of(service: str, kind: str) -> list[Table]:
    """The tables of a feed, the deals first."""
    sections = re.split(r"^## ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_table(s) for s in sections if s.startswith(f"{service}_{kind}_")]


def _table(section: str) -> Table:
    name, grain, *rest = section.splitlines()
    inner_to_outer = re.findall(r"`([^`]+)`", grain)
    rows = [re.fullmatch(r"\| (\w+) \| (\S.*?) \| (.+) \|", line) for line in rest]
    columns = tuple(_column(*row.groups()) for row in rows if row and row[1] != "column")
    return Table(name, tuple(reversed(inner_to_outer)), "(a map" in grain, columns)


def _column(name: str, type_: str, place: str) -> Column:
    if place in ("the entry", "the key", "the value"):
        return Column(name, type_, "", place.removeprefix("the "))
    if place.endswith(" (number at the end of its path)"):
        return Column(name, type_, place.split(" ")[0], "id")
    return Column(name, type_, place, "href" if place.endswith(".href") else "")


def shape(service: str, kind: str) -> dict:
    """What one deal of a feed looks like, as far as the tables read it: a dict is an object, a list of one
    a JSON array, ("map", type) an object whose members are rows, and a text the type of a column."""
    deal: dict = {"market": "UTF8", FEEDS[service, kind]: "INT64"}
    for table in tables_of(service, kind):
        node = deal
        for list_ in table.lists:
            at, last = _walk(node, list_)
            at.setdefault(last, [{}])
            parent, node = at, at[last][0]
        if table.is_map:
            parent[last] = ("map", table.columns[-1].type)
        elif table.columns[0].part == "entry":
            parent[last] = [table.columns[0].type]
        else:
            for column in table.columns:
                at, last = _walk(node, column.place)
                at[last] = "UTF8" if column.part == "id" else column.type
    return deal


def _walk(node: dict, place: str) -> tuple[dict, str]:
    """The object in which a place's last name stands, made on the way, and that name."""
    *path, last = place.split(".")
    for name in path:
        node = node.setdefault(name, {})
    return node, last


def pages(folder: pathlib.Path, service: str, kind: str) -> list[pathlib.Path]:
    """The saved pages of a feed in all its markets, in the order in which they were served."""
    return sorted(folder.glob(f"{service}-*-{kind}-*.json"))


def base_url(folder: pathlib.Path) -> str:
    """The address of the API that served the pages, to which links are made relative."""
    page = json.loads(min(folder.glob("*.json"), key=lambda path: path.stat().st_size).read_bytes())
    return page["_links"]["first"]["href"].partition("/v3/")[0]


def arguments(about: str) -> argparse.Namespace:
    """The command line that the flattening programs have in common."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=pathlib.Path, required=True, help="folder of saved pages, such as bond-IG-priced-0001.json")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the Parquet files; made if it is not there")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    return given


def result(tool: str, version: str, rows: dict[str, int], out: pathlib.Path) -> None:
    """Print what was done, in one line."""
    written = sum(f.stat().st_size for f in out.rglob("*.parquet"))
    print(json.dumps({"tool": tool, "version": version, "rows": dict(sorted(rows.items())), "bytes_written": written}))
