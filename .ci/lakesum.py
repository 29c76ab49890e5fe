#!/usr/bin/env python3
"""Print one digest per commit of a lake, without what differs from run to run.

Usage: lakesum.py LAKE

Two programs that pull the same simulated market into two lakes must print the same lines. Left out are run
ids, the program's version, addresses, and figures of time and traffic. The rows of deal_versions hold run ids,
so of those files only the number of rows is compared. Maintenance commits (no feeds) take started_at and
finished_at from the machine's clock: both are left out there.
"""

import glob
import hashlib
import json
import os
import sys

VARYING = {"extract_ms", "write_ms", "waited_ms", "waits", "retries", "bytes", "base_url", "requests"}
VERSIONS = "history.deal_versions"


def feed_facts(feed):
    return {k: v for k, v in feed.items() if k not in VARYING and not k.endswith("_at")}


def file_facts(file):
    facts = [file["table"], json.dumps(file["partition"], sort_keys=True), file["rows"]]
    if file["table"] != VERSIONS:
        facts += [file["bytes"], file["sha256"]]
    return facts


def digest(commit):
    instants = [commit["known_at"]]
    if commit["feeds"]:
        instants += [commit["started_at"], commit["finished_at"]]
    facts = [
        commit["command"],
        instants,
        commit["outcome"],
        [feed_facts(f) for f in commit["feeds"] or []],
        commit["checks"],
        sorted(file_facts(f) for f in commit["add"] or []),
        len(commit["remove"] or []),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "_dealflow", "commits", "*.json"))):
        with open(path, encoding="utf-8") as f:
            commit = json.load(f)
        print(commit["commit"], commit["command"], len(commit["add"] or []), digest(commit))


if __name__ == "__main__":
    main()
