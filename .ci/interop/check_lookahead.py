"""The explorer's pages as of an instant show nothing that was learned later.

usage: check_lookahead.py PROGRAM MARKET FOLDER [COMMIT …]

PROGRAM is dealflow. MARKET is the URL of a simulated market that stands still at the start of a day. The lakes lie in FOLDER.

Ten nights of runs pull the market into one lake, as the demo does. Its folder is copied after each night: that is a lake of so
many nights, which has never heard of the next one, and its runs are the very runs of the whole lake. (Lakes of demos of their
own would have other run ids and other files; here these must be equal, too.) A commit that another one followed in the same
night has a copy until that commit. The last commit is left out: nothing is later.

Each page pinned to a commit must then be the same from an explorer of the short lake and from one of the whole lake, but for
what the as-of strip says of later commits, how long statements took, and the place of the lake. A crawl follows all links but
those of the strip. Of each commit it takes the pages of the navigation, all analyses, tables and runs; of the columns of
tables a share, such that all commits together have each; and as many others as make CRAWL_PAGES (350): of each kind of
address, the forms that were seen least, chosen by hash. Some deals are taken because they change later, and some because they
are announced later: those have no page yet.
"""

import collections
import concurrent.futures
import difflib
import hashlib
import html.parser
import http.client
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urljoin, urlsplit

try:
    import pyarrow.parquet
except ImportError:  # then a download as Parquet must be the same byte for byte
    pyarrow = None

NIGHTS = 10
NOW = "2026-01-15T07:00:00Z"  # for ages; the same in both explorers
PAGES = int(os.environ.get("CRAWL_PAGES", "350"))
CHANGING, COMING = 12, 2  # deals that change later, and that are announced later
AT_ONCE = 2  # requests, of each explorer
BATCH = 24  # pages that are chosen together
TRIES = 6  # of a page that is not whole
SHOWN = 10  # differences of a commit that are printed


class Answer(NamedTuple):
    status: int
    kind: str  # of content
    body: bytes
    to: str  # where to go instead; "" for nowhere


class Explorer:
    """A running explorer of a lake."""

    def __init__(self, program: str, lake: Path) -> None:
        self.lake = lake
        self.process = subprocess.Popen(
            [program, "ui", "--listen", "127.0.0.1:0", "--lake", str(lake), "--now", NOW], stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            if found := re.search(r" at (http://[^/,;\s]+)", line):
                self.host = urlsplit(found[1]).netloc
                break
        else:
            raise AssertionError(f"the explorer of {lake} does not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.local = threading.local()
        self.pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
        self.process.terminate()
        self.process.wait()

    def once(self, path: str) -> Answer:
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = http.client.HTTPConnection(self.host, timeout=330)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers.get_content_type(), answer.read(), urljoin(path, answer.headers.get("Location", "")) if answer.status == 302 else "")
        except (http.client.HTTPException, ConnectionError) as e:
            connection.close()
            self.local.connection = None
            return Answer(503, "", f"the connection was cut: {e!r}".encode(), "")

    def ask(self, path: str) -> Answer:
        """Ask for a page until it is whole: a slow one is sent in parts, and a busy server asks to come again."""
        for wait in range(TRIES):
            answer = self.once(path)
            if answer.status != 503 and WAIT not in answer.body and BUSY not in answer.body:
                break
            time.sleep(wait)
        return answer


WAIT = b'<p class="wait soft">'  # the page was begun before its content was known
BUSY = b"<h3>Service Unavailable</h3>"  # a part of a page that was begun

STRIP = re.compile(r'<section id="asof".*?</section>', re.DOTALL)
LATER = re.compile(
    r' data-(?:commit|pin)="[^"]*"'  # the newest commit, and the page as of it
    r'|<a [^>]*data-move="[\]}]"[^>]*>[^<]*</a>'  # one commit or day forward
    r'|<input type="range"[^>]*>'  # there is another day
    r"|(?: · )?(?:[\d,]+ later commits? exists?, not shown|not final: commits up to this instant may still come)(?=</p>)"
)
DAY = re.compile(r'<option value="([^"]*)".*?</option>', re.DOTALL)
TOOK = re.compile(r'[\d.,]+ ms\b|(?<=<span class="took">)[^<]*')
# Of a page that is sent in parts, the title is that of the kind of page, and the heading may be so, too.
PARTS = re.compile(r'<p class="wait soft">[^<]*</p>|<title>[^<]*</title>|<h[12]>.*?</h[12]>')


def seconds(instant: str) -> datetime:
    return datetime.fromisoformat(instant)


def said(answer: Answer, explorer: Explorer, instant: str, parts: bool) -> list[str]:
    """The lines of an answer, without what may differ. parts: one of the two pages was sent in parts."""
    if answer.kind.endswith("parquet"):
        if pyarrow is None:
            return [hashlib.sha256(answer.body).hexdigest()]
        table = pyarrow.parquet.read_table(io.BytesIO(answer.body))
        return [str(table.schema)] + [json.dumps(row, default=str) for row in table.to_pylist()]
    text = answer.body.decode().replace(str(explorer.lake), "LAKE").replace(explorer.host, "HOST")
    if answer.kind == "text/html":

        def strip(found: re.Match) -> str:
            return DAY.sub(lambda day: day[0] if seconds(day[1]) <= seconds(instant) else "", LATER.sub("", found[0]))

        text = TOOK.sub("0 ms", STRIP.sub(strip, text))
        if parts:
            text = PARTS.sub("", text)
        text = text.replace("><", ">\n<")
    return [f"{answer.status} {answer.kind} {answer.to}"] + [line for line in text.splitlines() if line.strip()]


class Links(html.parser.HTMLParser):
    """The addresses to which a page leads, but for those of the as-of strip. In the navigation, they are kept apart, too."""

    def __init__(self, page: str, text: str) -> None:
        super().__init__()
        self.page, self.all, self.navigation, self.within = page, [], [], False
        self.feed(STRIP.sub("", text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within = self.within or tag == "nav"
        to = dict(attrs).get("href")
        if tag == "a" and to and not to.startswith("#"):
            self.all.append(urljoin(self.page, to).split("#")[0])
            if self.within:
                self.navigation.append(self.all[-1])

    def handle_endtag(self, tag: str) -> None:
        self.within = self.within and tag != "nav"


def number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def kind(below: str) -> tuple[str, str]:
    """The kind of an address below the base, and its form: what is special to a deal, a table or a value is not in them."""
    path, _, query = below.partition("?")
    values = parse_qs(query, keep_blank_values=True)
    form = re.sub(r"^deals/(\w+)/\w+/(\w+)/\d+", r"deals/\1/\2/N", path)
    form = re.sub(r"^(analyses|tables)/[^/.]+", r"\1/name", form)
    form = re.sub(r"^tables/name/[^/]+?(?=\.(csv|json|parquet)$|$)", "tables/name/column", form)
    form = re.sub(r"\d+", "N", form)
    coarse = re.sub(r"^deals/\w+/\w+/N", "deals/N", form)
    coarse = re.sub(r"\.(csv|json|parquet)$", ".file", coarse)
    words = [f"{name}={values[name][0]}" if name in ("tab", "view") else name for name in sorted(values)]
    return coarse, f"{form}?{'&'.join(words)}"


# The statement with which the console shows a table takes any rows of it. Here it takes the first ones.
ANY = re.compile(r"(\?sql=FROM\+\w+)%0ALIMIT(?=\+\d+$)")

# How many times as many pages as of other kinds are taken.
SHARES = {"deals/N": 3, "deals/N.file": 0.5, "sql": 0.5}


class Crawl:
    """The pages as of a commit, from the explorers of the whole lake and of a lake that ends with it."""

    def __init__(self, whole: Explorer, short: Explorer, commit: int, commits: int, lives: dict[str, list[datetime]]) -> None:
        self.explorers, self.commit, self.commits = (whole, short), commit, commits
        self.known, self.waiting, self.first = set(), [], set()
        self.kinds, self.forms = collections.Counter(), collections.Counter()
        self.pages = self.files = self.refused = self.in_parts = 0
        self.differences: list[str] = []
        begins = [e.ask(f"/as-of/commit-{commit}/").to for e in self.explorers]
        assert begins[0] == begins[1], f"commit {commit} is at {begins}"
        self.base = begins[0]
        self.instant = self.base.split("/")[2]
        newest = [json.loads(e.once("/-/newest").body)["commit"] for e in self.explorers]
        now, chosen = seconds(self.instant), sorted(lives, key=lambda path: number(f"{commit} {path}"))
        self.changing = [path for path in chosen if lives[path][0] <= now < lives[path][-1]]
        self.coming = [path for path in chosen if now < lives[path][0]]
        assert newest == [commits, commit], f"the newest commits are {newest}, want {[commits, commit]}"

    def must(self, address: str) -> bool:
        """Whether a page is taken in any case."""
        below = address.removeprefix(self.base)
        if address in self.first or re.fullmatch(r"(analyses|tables)/\w+|runs/\d+|runs/last|feeds", below):
            return True
        return bool(re.fullmatch(r"tables/\w+/\w+", below)) and number(below) % (self.commits - 1) == self.commit - 1

    def next(self) -> list[str]:
        """Choose the next pages."""
        chosen = [a for a in self.waiting if self.must(a)][:BATCH]
        for address in chosen:
            self.take(address)
        waiting = collections.defaultdict(list)
        for address in self.waiting:
            if not self.must(address):
                waiting[kind(address.removeprefix(self.base))[0]].append(address)
        while len(chosen) < BATCH and self.pages + self.files + len(chosen) < PAGES and waiting:
            coarse = min(waiting, key=lambda k: (self.kinds[k] / SHARES.get(k, 1), k))
            address = min(waiting[coarse], key=self.order)
            waiting[coarse].remove(address)
            if not waiting[coarse]:
                del waiting[coarse]
            self.take(address)
            chosen.append(address)
        return chosen

    def order(self, address: str) -> tuple[int, bool, int]:
        """What comes first among addresses of a kind: a form that was seen least, of a deal that changes later."""
        below = address.removeprefix(self.base)
        return self.forms[kind(below)[1]], re.sub(r"[.?].*", "", below) not in self.changing, number(f"{self.commit} {address}")

    def take(self, address: str) -> None:
        self.waiting.remove(address)
        coarse, form = kind(address.removeprefix(self.base))
        self.kinds[coarse] += 1
        self.forms[form] += 1

    def add(self, addresses: list[str]) -> None:
        for address in addresses:
            address = ANY.sub(r"\1%0AORDER+BY+ALL%0ALIMIT", address)
            if address not in self.known:
                self.known.add(address)
                self.waiting.append(address)

    def run(self) -> None:
        first = [self.base] + [self.base + path for path in self.changing[:CHANGING] + self.coming[:COMING]]
        self.add(first)
        self.first.update(first)
        while addresses := self.next():
            asked = [[e.pool.submit(e.ask, address) for e in self.explorers] for address in addresses]
            for address, answers in zip(addresses, asked):
                self.compare(address, *(answer.result() for answer in answers))

    def compare(self, address: str, whole: Answer, short: Answer) -> None:
        if whole.kind == "text/html" or whole.to:
            self.pages += 1
        else:
            self.files += 1
        parts = any(WAIT in answer.body for answer in (whole, short))
        self.in_parts += parts
        texts = [said(answer, e, self.instant, parts) for answer, e in zip((whole, short), self.explorers)]
        reason = ""
        if texts[0] != texts[1]:
            lines = difflib.unified_diff(texts[1], texts[0], "lake that ends with the commit", "whole lake", lineterm="", n=1)
            reason = "\n".join(line[:300] for line in list(lines)[:24])
        elif whole.status >= 500 or b'<div class="flaw">' in whole.body:
            reason = f"status {whole.status}: {whole.body.decode()[-500:]}"
        elif whole.status >= 400:
            self.refused += 1
        links = []
        for answer in (whole, short):
            found = Links(address, answer.body.decode()) if answer.kind == "text/html" else None
            links.append([answer.to] if answer.to else found.all if found else [])
            if found:
                self.first.update(found.navigation)
        if away := {to for to in links[0] + links[1] if not to.startswith(self.base)}:
            reason = reason or f"links leave the instant: {sorted(away)[:5]}"
        if alone := set(links[0]) ^ set(links[1]):
            reason += f"\naddresses from one of the two alone: {sorted(alone)[:5]}"
        if reason:
            self.differences.append(f"commit {self.commit}: {address}\n{reason}\n")
        self.add([to for to in links[0] + links[1] if to.startswith(self.base)])


LIVES = """
SELECT concat_ws('/', 'deals', service, market, kind, deal_id) AS path, list(strftime(valid_from AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') ORDER BY version) AS versions
FROM history.deal_versions GROUP BY ALL
"""


def lives_in(program: str, lake: Path) -> dict[str, list[datetime]]:
    """When the versions of each deal became known, by the address of its page."""
    listed = subprocess.run([program, "query", "--json", "--lake", str(lake), LIVES], capture_output=True, check=True)
    return {deal["path"].lower(): [seconds(version) for version in deal["versions"]] for deal in json.loads(listed.stdout)}


def build(program: str, market: str, folder: Path) -> tuple[Path, list[int]]:
    """Pull the market for ten nights. Return the whole lake and the newest commit after each night, whose copy is in the folder of its number."""
    whole, newest = folder / "whole" / "demo-lake", []
    environment = os.environ | {"DEALFLOW_CLIENT_ID": "demo", "DEALFLOW_CLIENT_SECRET": "demo"}
    for night in range(NIGHTS):
        by = "24h" if night else "22h"
        urllib.request.urlopen(urllib.request.Request(f"{market}/_sim/advance?by={by}", method="POST")).close()
        subprocess.run([program, "run", "--quiet", "--clock", "server", "--api", market, "--lake", str(whole)], env=environment, check=True)
        listed = subprocess.run([program, "query", "--json", "--lake", str(whole), 'SELECT max("commit") AS newest FROM runs'], capture_output=True, check=True)
        newest.append(json.loads(listed.stdout)[0]["newest"])
        shutil.copytree(whole, folder / str(newest[-1]) / "demo-lake")
    return whole, newest


def main(program: str, market: str, place: str, *only: str) -> None:
    began, folder = time.monotonic(), Path(place).resolve()
    folder.mkdir(parents=True)
    lake, newest = build(program, market.rstrip("/"), folder)
    print(f"no look-ahead: {NIGHTS} nights, {newest[-1]} commits, {time.monotonic() - began:.0f} s", flush=True)
    lives, different, seen = lives_in(program, lake), 0, 0
    whole = Explorer(program, lake)
    try:
        for commit in map(int, only) if only else range(1, newest[-1]):
            began = time.monotonic()
            until = folder / str(commit) / "demo-lake"
            if commit not in newest:
                subprocess.run([program, "copy", "--quiet", "--until", str(commit), str(lake), str(until)], check=True, stdout=subprocess.DEVNULL)
            short = Explorer(program, until)
            try:
                crawl = Crawl(whole, short, commit, newest[-1], lives)
                crawl.run()
            finally:
                short.close()
            for difference in crawl.differences[:SHOWN]:
                print(difference)
            if more := crawl.differences[SHOWN:]:
                print(f"{len(more)} more pages of this commit differ:", *(d.splitlines()[0].split(": ")[1] for d in more[:SHOWN]), sep="\n  ")
            print(
                f"commit {commit}: {crawl.pages} pages, {crawl.files} downloads of {len(crawl.known)} addresses, {len(crawl.forms)} forms; {crawl.refused} refused alike, "
                f"{crawl.in_parts} sent in parts; {len(crawl.differences)} differences; {time.monotonic() - began:.0f} s",
                flush=True,
            )
            assert crawl.pages + crawl.files >= min(PAGES, 100), "the crawl sees too little"
            different += len(crawl.differences)
            seen += crawl.pages + crawl.files
            shutil.rmtree(folder / str(commit))
    finally:
        whole.close()
    print(f"no look-ahead: {seen} pages and downloads, {different} differences")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
