"""Read a lake without dealflow, from docs/reference/lake-format.md alone.

usage: read_lake.py LAKE TABLE [INSTANT]

Prints the rows of a table as they were known at an instant (default: now) as CSV. LAKE is a local
folder. Needs pyarrow and duckdb.
"""

import hashlib
import json
import sys
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet as pq

FORMAT_VERSIONS = (1, 2)
KNOWN = {"multi-partition"}  # files of several markets: the rows say which


def live_files(lake: Path) -> dict[str, dict]:
    """Follow the log from its first commit to its last; give the live files by path."""
    files, previous, number = {}, "", 1
    while (path := lake / f"_dealflow/commits/{number:020d}.json").exists():
        data = path.read_bytes()
        commit = json.loads(data)
        if commit["format_version"] not in FORMAT_VERSIONS or set(commit.get("requires") or []) - KNOWN:
            raise SystemExit(f"{path}: written by a later version: {commit['dealflow_version']}")
        if commit["commit"] != number or commit["previous_sha256"] != previous:
            raise SystemExit(f"{path}: the log is damaged")
        for removed in commit["remove"] or []:
            del files[removed]
        for added in commit["add"] or []:
            files[added["path"]] = added
        previous, number = hashlib.sha256(data).hexdigest(), number + 1
    if unknown := {name for file in files.values() for name in file.get("requires") or []} - KNOWN:
        raise SystemExit(f"{lake}: a reader must know {', '.join(sorted(unknown))}")
    return files


def read(lake: Path, files: dict[str, dict], table: str, columns: list[str] | None = None):
    """Read the live files of a table, as a commit names it, into one Arrow table."""
    paths = [lake / path for path, file in files.items() if file["table"] == table]
    if not paths:
        raise SystemExit(f"{table} has no files")
    # One file at a time, by its own columns: the partitions in the path are in the file, too.
    return duckdb.from_arrow(pyarrow.concat_tables(pq.ParquetFile(p).read(columns) for p in paths))


def main(root: str, table: str, instant: str = "infinity") -> None:
    lake = Path(root)
    files = live_files(lake)
    tables = {file["table"].removeprefix("history.") for file in files.values() if file["table"].startswith("history.")} - {"deal_versions"}
    if table not in tables:
        raise SystemExit(f"{lake} has no table {table}; it has {', '.join(sorted(tables)) or 'no commit'}")
    service, kind = table.split("_")[:2]
    versions = read(lake, files, "history.deal_versions", ["service", "kind", "market", "deal_id", "version", "change", "known_at"])
    rows = read(lake, files, f"history.{table}")
    standing = duckdb.sql(
        f"""FROM versions WHERE service = '{service}' AND kind = '{kind}' AND known_at <= '{instant}'::TIMESTAMPTZ
        QUALIFY row_number() OVER (PARTITION BY market, deal_id ORDER BY version DESC) = 1"""
    )
    found = duckdb.sql("SELECT r.* FROM rows r JOIN standing s USING (market, deal_id, version) WHERE s.change <> 'removed' ORDER BY ALL")
    found.write_csv("/dev/stdout", header=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit("usage: read_lake.py LAKE TABLE [INSTANT]")
    main(*sys.argv[1:])
