"""Runs the statements of `dealflow ddl` in warehouses: tables, a complete export, one with changes. Then all tables are those
of the catalog as of each export's last commit, and so are the views of versions. Where `ddl --iceberg` registers the
tables of the lake, those of `current` are the present ones. Trino reads exports on S3 if the AWS tools' variables name an
endpoint.

usage: check_warehouses.py DEALFLOW LAKE ICEBERG-LAKE WORK WAREHOUSE …

ICEBERG-LAKE has the rows of LAKE and publishes Iceberg tables; it may be the same.

A warehouse is clickhouse, postgres=ADDRESS of a database, for psql, or trino=PORT.
"""

import datetime
import decimal
import json
import os
import subprocess
import sys
from pathlib import Path

import chdb.session
import duckdb
import trino


class Postgres:
    """A database of PostgreSQL, through psql."""

    dialect, form = "postgres", "csv"

    def __init__(self, address: str) -> None:
        self.address = address

    def run(self, script: str) -> None:
        psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.address]
        subprocess.run(psql, input=script, text=True, check=True)

    def rows(self, query: str, file: Path) -> str:
        self.run(f"SET TimeZone = 'UTC';\n\\copy ({query}) TO '{file}' (FORMAT csv, HEADER)\n")
        return f"read_csv('{file}', header = true, all_varchar = true, allow_quoted_nulls = false)"

    def instant(self, text: str) -> str:
        return f"'{text}'"


class ClickHouse:
    """A database of ClickHouse in this process."""

    dialect, form = "clickhouse", "parquet"

    def __init__(self, folder: Path) -> None:
        self.session = chdb.session.Session(str(folder))
        self.session.query("CREATE DATABASE IF NOT EXISTS lake; USE lake")

    def run(self, script: str) -> None:
        for statement in statements(script):
            self.session.query(statement)

    def rows(self, query: str, file: Path) -> str:
        self.session.query(f"{query} INTO OUTFILE '{file}' TRUNCATE FORMAT Parquet")
        return f"read_parquet('{file}', binary_as_string = true)"

    def instant(self, text: str) -> str:
        return f"'{text}'"


LOCAL = {"fs.native-local.enabled": "true", "local.location": "/"}  # properties of Trino's catalogs for folders of this machine


def s3(endpoint: str) -> dict[str, str]:
    """Returns properties of Trino's catalogs for an S3 server, with the key of the AWS tools' variables."""
    return {
        "fs.native-s3.enabled": "true",
        "s3.endpoint": endpoint,
        "s3.path-style-access": "true",
        "s3.region": os.environ["AWS_REGION"],
        "s3.aws-access-key": os.environ["AWS_ACCESS_KEY_ID"],
        "s3.aws-secret-key": os.environ["AWS_SECRET_ACCESS_KEY"],
    }


class Trino:
    """A server of Trino, whose catalogs are made by statements."""

    dialect, form = "trino", "parquet"

    def __init__(self, port: str) -> None:
        self.connection = trino.dbapi.connect(host="127.0.0.1", port=int(port), user="interop", catalog="iceberg", schema="dealflow", timezone="UTC")

    def execute(self, statement: str) -> list:
        cursor = self.connection.cursor()
        cursor.execute(statement)
        return cursor.fetchall()

    def version(self) -> str:
        return self.execute("SELECT version()")[0][0]

    def catalog(self, name: str, connector: str, properties: dict[str, str]) -> None:
        """Makes a catalog, unless it exists."""
        settings = ", ".join(f"\"{key}\" = '{value}'" for key, value in properties.items())
        self.execute(f"CREATE CATALOG IF NOT EXISTS {name} USING {connector} WITH ({settings})")

    def prepare(self, work: Path) -> None:
        """Makes the catalogs and schemas that the statements of ddl need."""
        tables = {
            "iceberg.catalog.type": "testing_file_metastore",
            "hive.metastore.catalog.dir": f"local://{work}/trino-tables",
            "iceberg.register-table-procedure.enabled": "true",
        }
        files = {"hive.metastore": "file", "hive.metastore.catalog.dir": f"local://{work}/trino-files", "hive.parquet.time-zone": "UTC"}
        if endpoint := os.environ.get("AWS_ENDPOINT_URL_S3"):
            files |= s3(endpoint)
        self.catalog("iceberg", "iceberg", LOCAL | tables)
        self.catalog("hive", "hive", LOCAL | files)
        for catalog in "iceberg", "hive":
            self.execute(f"CREATE SCHEMA IF NOT EXISTS {catalog}.dealflow")

    def run(self, script: str) -> None:
        for statement in statements(script):
            self.execute(statement)

    def rows(self, query: str, file: Path) -> str:
        cursor = self.connection.cursor()
        cursor.execute(query)
        names = [column[0] for column in cursor.description]
        with file.open("w") as out:
            for row in cursor.fetchall():
                out.write(json.dumps(dict(zip(names, map(plain, row)))) + "\n")
        columns = ", ".join(f"\"{name}\": 'VARCHAR'" for name in names)
        return f"read_json('{file}', format = 'newline_delimited', columns = {{{columns}}})"

    def instant(self, text: str) -> str:
        return f"TIMESTAMP '{text} UTC'"


def plain(value: object) -> str | None:
    """Writes a value of Trino as DuckDB reads it from a text."""
    if isinstance(value, bytes):
        return "".join(f"\\x{byte:02X}" for byte in value)
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return None if value is None else str(value)


def statements(script: str) -> list[str]:
    lines = "\n".join(line for line in script.split("\n") if not line.startswith("--"))
    return [statement for statement in lines.split(";\n") if statement.strip()]


def figures(db: duckdb.DuckDBPyConnection, source: str, columns: list[str]) -> tuple:
    """Returns the number of rows, and the sum of a hash over the columns."""
    texts = ", ".join(f'"{c}"::VARCHAR' for c in columns)
    return db.execute(f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM {source}").fetchone()


def open_warehouse(argument: str, work: Path) -> Postgres | ClickHouse | Trino:
    name, _, address = argument.partition("=")
    if name == "clickhouse":
        return ClickHouse(work / "clickhouse")
    if name == "postgres":
        return Postgres(address)
    warehouse = Trino(address)
    warehouse.prepare(work)
    return warehouse


def main(dealflow: str, root: str, published: str, folder: str, *warehouses: str) -> None:
    lake, published, work = Path(root).resolve(), str(Path(published).resolve()), Path(folder).resolve()
    run = lambda *words: subprocess.run([dealflow, *words], check=True, capture_output=True, text=True).stdout
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"ATTACH '{lake / 'catalog.duckdb'}' AS lake (READ_ONLY)")
    db.execute("SET VARIABLE lake = ?", [str(lake)])
    db.execute(db.execute("SELECT statement FROM lake.lake_help WHERE topic = 'attach'").fetchone()[0])
    os.chdir("/")  # chDB opens Iceberg tables below the present folder only
    for argument in warehouses:
        warehouse = open_warehouse(argument, work)
        target = f"{work}/for-{warehouse.dialect}"
        if isinstance(warehouse, Trino) and os.environ.get("AWS_ENDPOINT_URL_S3"):
            target = "s3://lake/for-trino"
        warehouse.run(run("ddl", warehouse.dialect))
        instants, compared = [], 0
        for since in ["--full", "--to", "1"], ["--since", "last"]:
            words = ["export", "--lake", str(lake), "--json", "--format", warehouse.form, *since, target]
            result = json.loads(run(*words))
            if "://" not in target:
                subprocess.run(["chmod", "-R", "a+rX", target], check=True)
            warehouse.run(run("ddl", warehouse.dialect, "--load", f"{target}/{result['manifest']}"))
            instants.append(result["export"]["to"]["known_at"])
            for table in result["export"]["tables"]:
                name = table["table"]
                compared += compare(db, warehouse, name, f"SELECT * FROM {name}", instants[-1], work)
        for known_at in instants:
            at = warehouse.instant(known_at.replace("T", " ").rstrip("Z"))
            for table in result["export"]["tables"]:
                name = table["table"]
                then = f"SELECT * FROM {name}_versions WHERE valid_from <= {at} AND (valid_to IS NULL OR valid_to > {at})"
                compared += compare(db, warehouse, name, then, known_at, work)
        assert compared > 60, compared
        print(f"ddl {warehouse.dialect}: {compared} tables with rows are equal to the catalog after loads, and as of each", flush=True)
        if not isinstance(warehouse, Postgres):
            script = run("ddl", warehouse.dialect, "--iceberg", "--lake", published)
            compare_registered(db, warehouse, script, [table["table"] for table in result["export"]["tables"]], instants[-1], work)


def compare_registered(db: duckdb.DuckDBPyConnection, warehouse: ClickHouse | Trino, script: str, tables: list[str], known_at: str, work: Path) -> None:
    """Registers the Iceberg tables of the lake, and compares those of `current`."""
    warehouse.run(script)
    compared = 0
    for name in tables:
        columns = [row[0] for row in db.execute(f"DESCRIBE FROM lake.{name}_as_of(TIMESTAMPTZ '{known_at}')").fetchall() if row[0] not in ("known_at", "commit")]
        names = ", ".join(f'"{c}"' for c in columns)
        compared += compare(db, warehouse, name, f'SELECT {names} FROM "current".{name}', known_at, work, columns)
    assert compared > 14, compared
    print(f"ddl {warehouse.dialect} --iceberg: {compared} registered tables with rows are equal to the catalog", flush=True)


def compare(
    db: duckdb.DuckDBPyConnection, warehouse: Postgres | ClickHouse | Trino, name: str, query: str, known_at: str, work: Path, columns: list[str] | None = None
) -> bool:
    """Compares the answer of a warehouse with a table as of an instant, in all columns or some; says whether it has rows."""
    macro = f"lake.{name}_as_of(TIMESTAMPTZ '{known_at}')"
    columns = columns or [row[0] for row in db.execute(f"DESCRIBE FROM {macro}").fetchall()]
    db.execute(f"CREATE OR REPLACE TEMP TABLE got AS FROM {macro} LIMIT 0")
    file = work / "answer"
    names = ", ".join(f'"{c}"' for c in columns)
    source = warehouse.rows(query, file)
    db.execute(f"INSERT INTO got BY NAME SELECT {names} FROM {source}")
    want, got = figures(db, macro, columns), figures(db, "got", columns)
    assert got == want, f"{warehouse.dialect}: {query}: got {got}, want {want}"
    file.unlink()
    return want[0] > 0


if __name__ == "__main__":
    main(*sys.argv[1:])
