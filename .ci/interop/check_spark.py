"""Reads the Iceberg tables of lakes with Spark, and compares each with the catalog.

For each lake, the count and a hash over all columns of each table of `current` as of each kept commit must be those of
the as-of macro; those of `history` and `snapshots` those of the views. Each is read through the metadata in its folder,
and through a REST catalog if the lake has a URL. SPARK_JARS names the jars of the Iceberg runtime. With S3_ENDPOINT the
REST catalog's files are on S3, and LAKE is a copy of that lake in a folder, with the same commits. RENAMED is the folder
that check_evolution.py has made of the first lake.

usage: check_spark.py LAKE[=URL] …
"""

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession

MOST = 16  # commits of a lake that are compared: all, or some from the first to the last


def session(lakes: list[tuple[Path, str]]) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("check").config("spark.jars", os.environ["SPARK_JARS"])
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Compiling 136 columns takes longer than reading these rows, and so does compiling Spark itself twice.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    for i, (lake, url) in enumerate(lakes):
        settings |= {
            f"spark.sql.catalog.folder{i}": "org.apache.iceberg.spark.SparkCatalog",
            f"spark.sql.catalog.folder{i}.type": "hadoop",
            f"spark.sql.catalog.folder{i}.warehouse": f"file://{lake}/_dealflow/iceberg",
            f"spark.sql.catalog.folder{i}.cache-enabled": "false",
        }
        if url:
            settings |= {
                f"spark.sql.catalog.rest{i}": "org.apache.iceberg.spark.SparkCatalog",
                f"spark.sql.catalog.rest{i}.type": "rest",
                f"spark.sql.catalog.rest{i}.uri": url + "/iceberg",
                f"spark.sql.catalog.rest{i}.cache-enabled": "false",
            }
            if endpoint := os.environ.get("S3_ENDPOINT"):
                settings |= {
                    f"spark.sql.catalog.rest{i}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
                    f"spark.sql.catalog.rest{i}.s3.endpoint": endpoint,
                    f"spark.sql.catalog.rest{i}.s3.path-style-access": "true",
                    f"spark.sql.catalog.rest{i}.client.region": "us-east-1",
                }
    if renamed := os.environ.get("RENAMED"):
        settings |= {
            "spark.sql.catalog.renamed": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.renamed.type": "hadoop",
            "spark.sql.catalog.renamed.warehouse": f"file://{renamed}",
        }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Lake:
    """A lake, its catalog, and what Spark is to be compared with."""

    def __init__(self, root: Path, work: Path) -> None:
        self.root, self.work = root, work
        self.db = duckdb.connect(f"{root}/catalog.duckdb", read_only=True)
        self.db.execute("SET TimeZone = 'UTC'")
        self.db.execute("SET VARIABLE lake = ?", [str(root)])
        self.published = json.loads((root / "_dealflow/iceberg/published.json").read_text())["tables"]

    def metadata(self, entry: dict) -> dict:
        path = self.root / "_dealflow/iceberg" / entry["namespace"] / entry["name"] / f"metadata/v{entry['version']}.metadata.json"
        return json.loads(path.read_text())

    def figures(self, source: str, columns: list[str]) -> tuple:
        texts = ", ".join(f'"{column}"::VARCHAR' for column in columns)
        return self.db.execute(f"SELECT count(*), coalesce(sum(hash([{texts}])::HUGEINT), 0) FROM {source}").fetchone()

    def wanted(self, entry: dict, snapshot: dict) -> str:
        if entry["namespace"] == "current":
            return f"{entry['name']}_as_of(make_timestamptz({snapshot['summary']['dealflow.known_at_us']}))"
        return f"{entry['namespace']}.{entry['name']}"


def compare(spark: SparkSession, lake: Lake, catalog: str) -> tuple[int, int]:
    """Compares all tables as of all kept commits; returns how many there were, and their rows."""
    compared = rows = 0
    for entry in lake.published:
        table = f"{catalog}.{entry['namespace']}.{entry['name']}"
        metadata = lake.metadata(entry)
        columns = [field["name"] for field in metadata["schemas"][-1]["fields"]]
        names = ", ".join(f"`{column}`" for column in columns)
        snapshots = metadata["snapshots"]
        if len(snapshots) > MOST:
            snapshots = [snapshots[i * (len(snapshots) - 1) // (MOST - 1)] for i in range(MOST)]
        query = " UNION ALL ".join(
            f"SELECT {s['snapshot-id']} AS snapshot_id_of_test, {names} FROM {table} VERSION AS OF {s['snapshot-id']}" for s in snapshots
        )
        out = lake.work / "out"
        spark.sql(query).coalesce(1).write.mode("overwrite").parquet(f"file://{out}")
        lake.db.execute(f"CREATE OR REPLACE TEMP TABLE got AS FROM read_parquet('{out}/*.parquet')")
        for s in snapshots:
            got = lake.figures(f"got WHERE snapshot_id_of_test = {s['snapshot-id']}", columns)
            want = lake.figures(lake.wanted(entry, s), columns)
            assert got == want, f"Spark: {table} as of {s['snapshot-id']}: {got}, want {want}"
            compared, rows = compared + 1, rows + want[0]
        shutil.rmtree(out)
    return compared, rows


def compare_times(spark: SparkSession, lake: Lake, catalog: str) -> int:
    """Compares a table as of times: just before a commit was known, and when it was."""
    entry = next(t for t in lake.published if t["namespace"] == "current" and t["name"] == "bond_priced_deals")
    snapshots = lake.metadata(entry)["snapshots"]
    compared = 0
    for before, s in list(zip(snapshots, snapshots[1:]))[-MOST:]:
        for offset, at in ((-1, before), (0, s)):
            time_ms = s["timestamp-ms"] + offset
            if offset and time_ms < before["timestamp-ms"]:
                continue
            text = f"timestamp_millis({time_ms})"
            (got,) = spark.sql(f"SELECT count(*) FROM {catalog}.current.bond_priced_deals TIMESTAMP AS OF {text}").first()
            want = lake.figures(lake.wanted(entry, at), ["deal_id"])[0]
            assert got == want, f"Spark: {catalog} at {time_ms}: {got}, want {want}"
            compared += 1
    listed = spark.sql(f"SELECT snapshot_id, summary FROM {catalog}.current.bond_priced_deals.snapshots").collect()
    assert [row[0] for row in listed] == [s["snapshot-id"] for s in snapshots], listed
    assert spark.sql(f"SHOW TABLES IN {catalog}.history").count() == 18
    return compared


def compare_folders(spark: SparkSession, lake: Lake) -> None:
    """Compares tables as Parquet folders, by default calls. The lake has no replaced files."""
    for kind in ("snapshots", "history"):
        for name in ("bond_priced_deals", "loan_priced_tranche_banks"):
            want = lake.db.execute(f"SELECT count(*), sum(deal_id), min(market) FROM {kind}.{name}").fetchone()
            for reader in (spark.read, spark.read.option("recursiveFileLookup", "true")):
                rows = reader.parquet(f"file://{lake.root}/{kind}/{name}")
                got = tuple(rows.selectExpr("count(*)", "sum(deal_id)", "min(market)").first())
                assert got == want, f"Spark: the folder {kind}/{name}: {got}, want {want}"
    print("Spark: folders have the rows of the catalog")


def refused(spark: SparkSession, catalog: str) -> None:
    """Writing into a table through the REST catalog must fail."""
    try:
        spark.sql(f"DELETE FROM {catalog}.current.bond_priced_deals WHERE market = 'IG'")
    except Exception as error:  # noqa: BLE001 # any of Spark's own
        print(f"Spark: a DELETE through {catalog} is refused: {str(error).splitlines()[0][:150]}")
        return
    raise AssertionError(f"{catalog}: a DELETE was accepted")


def compare_renamed(spark: SparkSession, lake: Lake) -> None:
    """Compares a renamed and an added column with the values of before."""
    entry = next(t for t in lake.published if t["namespace"] == "current" and t["name"] == "bond_priced_deals")
    for s in lake.metadata(entry)["snapshots"]:
        out = lake.work / "out"
        query = f"SELECT deal_id, issuer_name AS borrower_name, desk_note FROM renamed.current.renamed VERSION AS OF {s['snapshot-id']}"
        spark.sql(query).coalesce(1).write.mode("overwrite").parquet(f"file://{out}")
        got = lake.figures(f"read_parquet('{out}/*.parquet') WHERE desk_note IS NULL", ["deal_id", "borrower_name"])
        want = lake.figures(lake.wanted(entry, s), ["deal_id", "borrower_name"])
        assert got == want and got[0] > 0, f"Spark: the renamed column as of {s['snapshot-id']}: {got}, want {want}"
        shutil.rmtree(out)
    print("Spark: a renamed and an added column have the values of before")


def main() -> None:
    lakes = []
    for argument in sys.argv[1:]:
        path, _, url = argument.partition("=")
        lakes.append((Path(path).resolve(), url))
    spark = session(lakes)
    with tempfile.TemporaryDirectory() as folder:
        for i, (root, url) in enumerate(lakes):
            lake = Lake(root, Path(folder))
            catalogs = [f"folder{i}"] + ([f"rest{i}"] if url else [])
            if os.environ.get("S3_ENDPOINT"):
                catalogs = [f"rest{i}"]
            for catalog in catalogs:
                began = time.monotonic()
                compared, rows = compare(spark, lake, catalog)
                times = compare_times(spark, lake, catalog)
                print(f"Spark {spark.version}: {root.name} through {catalog[:-1]}: {compared} tables as of commits with {rows} rows and {times} as of times, equal to the catalog, {time.monotonic() - began:.0f} s", flush=True)
            if url:
                refused(spark, f"rest{i}")
            if i == 0 and os.environ.get("RENAMED"):
                compare_renamed(spark, lake)
                compare_folders(spark, lake)
    spark.stop()


main()
