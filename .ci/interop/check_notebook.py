"""The example notebook, executed on a lake; a number that it computes is the one that the program gives.

usage: check_notebook.py NOTEBOOK LAKE DEALFLOW
"""

import json
import os
import subprocess
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

# The frames that the notebook ends with, as JSON, for comparison.
PROBE = "import json; print(json.dumps({'tightening': tightening.to_dicts(), 'pipeline': pipeline.to_dicts()}, default=str))"

QUESTIONS = {
    "tightening": "SELECT market, deals AS bonds, tightening_bp_n AS used, tightening_bp_median AS median_bp FROM execution_summary WHERE rating = 'all' ORDER BY market",
    "pipeline": """SELECT now.market, ago.then, now.now
        FROM (SELECT market, count(*) AS now FROM pipeline_as_of WHERE NOT is_priced GROUP BY market) now
        JOIN (SELECT market, count(*) AS then FROM pipeline_as_of((SELECT min(known_at) FROM runs)) WHERE NOT is_priced GROUP BY market) ago USING (market)
        ORDER BY market""",
}


def main(path: str, lake: str, dealflow: str) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None, f"{path}: cell {cell.id} holds outputs; strip them"
    cells = len(notebook.cells)
    notebook.cells.append(nbformat.v4.new_code_cell(PROBE))
    os.environ["DEALFLOW_LAKE"] = lake
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    images = sum("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    assert images == 1, f"{images} plots, want 1"
    got = json.loads(notebook.cells[-1].outputs[0].text)
    for name, question in QUESTIONS.items():
        asked = subprocess.run([dealflow, "query", "--lake", lake, "--format", "json", question], check=True, capture_output=True)
        want = json.loads(asked.stdout)
        assert want and got[name] == want, f"{name}: the notebook says {got[name]}, dealflow {want}"
    print(f"{path}: {cells} cells, {images} plot; {' and '.join(QUESTIONS)} as dealflow says")


if __name__ == "__main__":
    main(*sys.argv[1:])
