"""Pulls the deals every night, and looks every morning whether they are fresh (Airflow 3).

The command runs on the worker: dealflow must be installed there, or in the worker's image. Its settings are in the file
that DEALFLOW_CONFIG names; client_secret_file of that file names the file with the secret, so that no secret is in
Airflow. The work folder must outlive the task, because attempts that could not be recorded wait there.
"""

import datetime
import os
import subprocess

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

CONFIG = "/etc/dealflow/dealflow.yaml"

# What may pass by itself: an error, some feeds that failed, another run that won. All other codes wait for a person or
# for the next night: a held feed must not start anything.
TRY_AGAIN = {1, 3, 11}
SKIPPED = 13  # another command is at work


def dealflow(*args: str) -> None:
    """Runs a command of dealflow. Its exit code says what becomes of the task; its lines are in the task's log."""
    command = ["dealflow", *args]
    # A task that is stopped gets SIGTERM; subprocess.run would then kill the command, without letting it clean up.
    with subprocess.Popen(command, env={"DEALFLOW_CONFIG": CONFIG, "DEALFLOW_LOG_FORMAT": "json", **os.environ}) as process:
        try:
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if code == 0:
        return
    said = f"{' '.join(command)} ended with exit code {code}: see the runbook of dealflow"
    if code == SKIPPED:
        raise AirflowSkipException(said)
    if code in TRY_AGAIN:
        raise AirflowException(said)
    raise AirflowFailException(said)


@dag(
    schedule="0 22 * * *",  # in UTC, the lake's day zone
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    catchup=False,  # a snapshot of the past cannot be taken
    max_active_runs=1,
    dagrun_timeout=datetime.timedelta(hours=6),
    tags=["dealflow"],
)
def dealflow_night():
    @task(retries=2, retry_delay=datetime.timedelta(minutes=15), execution_timeout=datetime.timedelta(hours=4))
    def run():
        dealflow("run", "--deadline", "2h")

    run()


@dag(
    schedule="30 6 * * *",
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    catchup=False,
    max_active_runs=1,
    tags=["dealflow"],
)
def dealflow_morning():
    # The alert: it fails if the last run failed, or a feed is stale or held. Nothing is started by it.
    @task(retries=0, execution_timeout=datetime.timedelta(minutes=5))
    def status():
        dealflow("status")

    status()


@dag(
    schedule="0 6 * * 6",
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    catchup=False,
    max_active_runs=1,
    tags=["dealflow"],
)
def dealflow_week():
    @task(retries=0, execution_timeout=datetime.timedelta(hours=4))
    def verify():
        dealflow("verify")

    @task(retries=0, execution_timeout=datetime.timedelta(hours=4))
    def expire():
        dealflow("expire", "--apply")

    verify() >> expire()  # nothing is removed from a lake that is damaged


dealflow_night()
dealflow_morning()
dealflow_week()
