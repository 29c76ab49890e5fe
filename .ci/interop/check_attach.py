"""Attaches the catalogs of two lakes at once, under names of the reader's choice, and asks macros of both.

usage: check_attach.py LAKE LAKE
"""

import sys

import duckdb

QUERIES = (
    "SELECT count(*), sum(nominal_usd) FROM {}bond_priced_deals",
    "SELECT count(*), sum(nominal_usd) FROM {}bond_priced_deals_as_of((SELECT min(known_at) FROM {}runs))",
    "SELECT count(*), sum(credit_usd) FROM {}league_table('LOAN', DATE '2000-01-01', DATE '2999-12-31')",
    "SELECT count(*), sum(tightening_bp::DECIMAL(18, 6)) FROM {}execution_metrics((SELECT max(known_at) FROM {}runs))",
)


def main(first: str, second: str) -> None:
    both = duckdb.connect()
    names = {"d": first, "another lake": second}
    wanted = {}
    for name, lake in names.items():
        with duckdb.connect(f"{lake}/catalog.duckdb", read_only=True) as alone:
            alone.execute("SET VARIABLE lake = ?", [lake])
            wanted[name] = [alone.execute(query.format("", "")).fetchone() for query in QUERIES]
        both.execute(f"""ATTACH '{lake}/catalog.duckdb' AS "{name}" (READ_ONLY)""")
        (lake_id,) = both.execute(f"""SELECT lake_id FROM "{name}".catalog_info""").fetchone()
        both.execute(f"SET VARIABLE lake_{lake_id} = ?", [lake])
    assert wanted["d"] != wanted["another lake"], "the lakes are the same"
    (statement,) = both.execute("SELECT statement FROM d.lake_help WHERE topic = 'attach'").fetchone()
    both.execute(statement)
    for name in names:
        got = [both.execute(query.format(*2 * [f'"{name}".'])).fetchone() for query in QUERIES]
        assert got == wanted[name], f"{name}: {got}, want {wanted[name]}"
    print(f"two lakes, attached at once: macros of both answer through DuckDB {duckdb.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:])
