"""Loads the DAGs of docs/ops/airflow with Airflow's own parser, and runs each task with each exit code.

usage: check_airflow.py FOLDER STAND_IN

STAND_IN is a folder with a command dealflow that ends with $STAND_IN_CODE and appends its arguments to $STAND_IN_LOG.
"""

import os
import sys
import tempfile

folder, stand_in = sys.argv[1:]
home = tempfile.mkdtemp()
os.environ |= {"AIRFLOW_HOME": home, "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "PATH": stand_in + os.pathsep + os.environ["PATH"]}

from airflow.dag_processing.dagbag import DagBag  # noqa: E402
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException  # noqa: E402

bag = DagBag(dag_folder=folder)
assert not bag.import_errors, bag.import_errors
want = {
    "dealflow_night": {"run": "run --deadline 2h"},
    "dealflow_morning": {"status": "status"},
    "dealflow_week": {"verify": "verify", "expire": "expire --apply"},
}
assert set(bag.dags) == set(want), sorted(bag.dags)


def outcome(task, code):
    """Runs a task whose command ends with this code, and returns what becomes of it."""
    os.environ["STAND_IN_CODE"] = str(code)
    try:
        task.python_callable()
    except AirflowSkipException:
        return "skipped"
    except AirflowFailException:
        return "failed"
    except AirflowException:
        return "tried again"
    return "done"


codes = {0: "done", 1: "tried again", 3: "tried again", 11: "tried again", 13: "skipped"}
codes |= {code: "failed" for code in (2, 4, 5, 6, 7, 8, 9, 10, 12, 130)}
for name, tasks in want.items():
    dag = bag.dags[name]
    assert not dag.catchup and dag.max_active_runs == 1, name
    assert set(dag.task_ids) == set(tasks), dag.task_ids
    for task_id, arguments in tasks.items():
        task = dag.get_task(task_id)
        for code, becomes in codes.items():
            log = os.path.join(home, "log")
            os.environ["STAND_IN_LOG"] = log
            found = outcome(task, code)
            assert found == becomes, f"{task_id} with exit code {code}: {found}, want {becomes}"
            with open(log) as lines:
                assert lines.read().splitlines() == [arguments], task_id
            os.remove(log)
        assert (task.retries > 0) == (task_id == "run"), f"{task_id} is tried {task.retries} times again"
assert bag.dags["dealflow_week"].get_task("expire").upstream_task_ids == {"verify"}
print(f"recipes: Airflow loads {len(bag.dags)} DAGs, and each task knows {len(codes)} exit codes")
