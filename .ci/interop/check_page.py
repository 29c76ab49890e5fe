"""Runs the Python examples of a page, and compares what they print with what the page shows after them.

An example is a block of Python, followed by a block of text. Those below the headings that are named are run in FOLDER,
where the lake demo-lake is. With --update the page gets what they print. --replace replaces a text of examples before they
run, such as a port.

usage: check_page.py [--update] [--replace OLD NEW] PAGE FOLDER HEADING …
"""

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path

SECTION = re.compile(r"^### (.+)$", re.MULTILINE)
EXAMPLE = re.compile(r"^```python\n(?P<code>.*?)^```\n\n```text\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)


def printed(code: str) -> str:
    """Runs an example, and returns what it writes to stdout, through Python or not."""
    sys.stdout.flush()
    stdout = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            exec(compile(code, "example", "exec"), {"__name__": "example"})  # noqa: S102
        finally:
            sys.stdout.flush()
            os.dup2(stdout, 1)
            os.close(stdout)
        file.seek(0)
        lines = file.read().decode().splitlines()
    return "".join(line.rstrip() + "\n" for line in lines if line.strip())


def main(page: Path, folder: Path, headings: list[str], update: bool, replaced: tuple[str, str]) -> None:
    text = page.read_text()
    found = list(SECTION.finditer(text))
    sections = {}
    for i, match in enumerate(found):
        end = found[i + 1].start() if i + 1 < len(found) else len(text)
        sections[match[1]] = text[match.end() : end]
    wrong = []
    os.chdir(folder)
    for heading in headings:
        examples = list(EXAMPLE.finditer(sections[heading]))
        assert examples, f"{page}: no example below {heading}"
        began = time.monotonic()
        for example in examples:
            got = printed(example["code"].replace(*replaced))
            if got == example["shown"]:
                continue
            if update:
                old = example[0]
                text = text.replace(old, old[: old.index("```text\n")] + "```text\n" + got + "```")
            else:
                wrong.append(f"{heading}: the page shows\n{example['shown']}but the example prints\n{got}")
        print(f"{heading}: {len(examples)} examples of {page.name}, {time.monotonic() - began:.1f} s")
    if update:
        page.write_text(text)
    assert not wrong, f"{page}:\n" + "\n".join(wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--replace", nargs=2, default=("", ""))
    parser.add_argument("page", type=lambda path: Path(path).resolve())
    parser.add_argument("folder", type=lambda path: Path(path).resolve())
    parser.add_argument("headings", nargs="+")
    given = parser.parse_args()
    main(given.page, given.folder, given.headings, given.update, tuple(given.replace))
