"""Loads the jobs of docs/ops/dagster with Dagster, and runs them with each exit code.

usage: check_dagster.py FILE STAND_IN

STAND_IN is a folder with a command dealflow that ends with $STAND_IN_CODE and appends its arguments to $STAND_IN_LOG.
"""

import importlib.util
import os
import sys
import tempfile

path, stand_in = sys.argv[1:]
home = tempfile.mkdtemp()
log = os.path.join(home, "log")
os.environ |= {"DAGSTER_HOME": home, "DAGSTER_DISABLE_TELEMETRY": "1", "STAND_IN_LOG": log, "PATH": stand_in + os.pathsep + os.environ["PATH"]}

spec = importlib.util.spec_from_file_location("dealflow_lake", path)
recipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipe)
recipe.RETRY_SECONDS = 0

want = {"dealflow_night": ["run --deadline 2h"], "dealflow_morning": ["status"], "dealflow_week": ["verify", "expire --apply"]}
assert {schedule.job_name for schedule in recipe.defs.schedules} == set(want)
assert all(schedule.execution_timezone == "UTC" for schedule in recipe.defs.schedules)
for name, commands in want.items():
    job = recipe.defs.resolve_job_def(name)
    for code in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 130):
        os.environ["STAND_IN_CODE"] = str(code)
        succeeded = job.execute_in_process(raise_on_error=False).success
        assert succeeded == (code in (0, 13)), f"{name} with exit code {code}: success {succeeded}"
        expected = commands if succeeded else commands[:1] * (3 if name == "dealflow_night" and code in (1, 3, 11) else 1)
        with open(log) as lines:
            found = lines.read().splitlines()
        assert found == expected, f"{name} with exit code {code} ran {found}, want {expected}"
        os.remove(log)
print(f"recipes: Dagster loads {len(want)} jobs, and runs them as their exit codes say")
