"""Pulls the deals every night, and looks every morning whether they are fresh (Dagster).

The command runs where the job runs: dealflow must be installed there, or in its image. Its settings are in the file that
DEALFLOW_CONFIG names; client_secret_file of that file names the file with the secret, so that no secret is in Dagster.
The work folder must outlive the job, because attempts that could not be recorded wait there.
"""

import os
import subprocess

import dagster

CONFIG = "/etc/dealflow/dealflow.yaml"

# What may pass by itself: an error, some feeds that failed, another run that won. All other codes wait for a person or
# for the next night: a held feed must not start anything.
TRY_AGAIN = {1, 3, 11}
SKIPPED = 13  # another command is at work


def dealflow(context: dagster.OpExecutionContext, *args: str, tries: int = 1) -> None:
    """Runs a command of dealflow. Its exit code says what becomes of the op; its lines are in the op's stderr."""
    command = ["dealflow", *args]
    # An op that is stopped is interrupted; subprocess.run would then kill the command, without letting it clean up.
    with subprocess.Popen(command, env={"DEALFLOW_CONFIG": CONFIG, "DEALFLOW_LOG_FORMAT": "json", **os.environ}) as process:
        try:
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    said = f"{' '.join(command)} ended with exit code {code}: see the runbook of dealflow"
    if code == 0:
        return
    if code == SKIPPED:
        context.log.warning(said)
    elif code in TRY_AGAIN and tries > 1:
        raise dagster.RetryRequested(max_retries=tries - 1, seconds_to_wait=RETRY_SECONDS) from dagster.Failure(said)
    else:
        raise dagster.Failure(said, metadata={"exit_code": code}, allow_retries=False)


RETRY_SECONDS = 900


@dagster.op
def run(context: dagster.OpExecutionContext) -> None:
    dealflow(context, "run", "--deadline", "2h", tries=3)


@dagster.op
def status(context: dagster.OpExecutionContext) -> None:
    dealflow(context, "status")


@dagster.op(out=dagster.Out(dagster.Nothing))
def verify(context: dagster.OpExecutionContext) -> None:
    dealflow(context, "verify")


@dagster.op(ins={"after": dagster.In(dagster.Nothing)})
def expire(context: dagster.OpExecutionContext) -> None:
    dealflow(context, "expire", "--apply")


# The tag limits the jobs to one at a time where the instance sets a limit for it.
ONE_AT_A_TIME = {"dealflow/lake": "deals", "dagster/max_runtime": 6 * 3600}


@dagster.job(tags=ONE_AT_A_TIME)
def dealflow_night():
    run()


@dagster.job
def dealflow_morning():
    """The alert: it fails if the last run failed, or a feed is stale or held. Nothing is started by it."""
    status()


@dagster.job(tags=ONE_AT_A_TIME)
def dealflow_week():
    expire(after=verify())  # nothing is removed from a lake that is damaged


defs = dagster.Definitions(
    jobs=[dealflow_night, dealflow_morning, dealflow_week],
    schedules=[
        # In UTC, the lake's day zone.
        dagster.ScheduleDefinition(job=dealflow_night, cron_schedule="0 22 * * *", execution_timezone="UTC"),
        dagster.ScheduleDefinition(job=dealflow_morning, cron_schedule="30 6 * * *", execution_timezone="UTC"),
        dagster.ScheduleDefinition(job=dealflow_week, cron_schedule="0 6 * * 6", execution_timezone="UTC"),
    ],
)
