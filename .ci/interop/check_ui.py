"""The explorer in a real browser: by keys alone, without a script, in both colour schemes and two widths.

usage: check_ui.py CHROMIUM AXE URL PID FOLDER CASES [TWIN [EMPTY]]

AXE is the file of axe-core. URL is that of a running explorer, and PID its process. Screenshots stay in FOLDER, to be looked
at: of some pages, or, with CASES "full", of each page in each scheme and width. No page may have a serious finding of axe, a
message on the console, a request to another host, or more width than the screen. With CASES "full", a statement is
left to run until its time is over, and no page is wider than 320 px. TWIN is the URL of a second explorer of the same lake, which has
answered nothing yet: each picture of a page must be the same from both. Pictures are not kept for that, because they hold for one version
of Chromium and of its fonts. EMPTY is the URL of an explorer of a lake without a commit, whose pages are looked at, too.
"""

import base64
import io
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote, urlparse

import websocket
from PIL import Image, ImageChops


# Notes where the parts of a page are before its script does anything: a reader may see it so. moved() names those that are elsewhere since.
# What follows the reader's last statements may move: only the browser knows how many there are.
STILL = """
document.addEventListener("DOMContentLoaded", () => {
  const past = document.getElementById("past"), top = (e) => e.getBoundingClientRect().top + scrollY;
  const follows = (e) => past && (e === past || past.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING);
  const parts = [...document.querySelectorAll(".strip, main, main > *, main > * > *, footer")].filter((e) => !follows(e)).map((e) => [e, top(e)]);
  window.moved = () => parts.filter(([e, was]) => Math.abs(top(e) - was) > 1).map(([e, was]) => `${e.outerHTML.slice(0, 60)} by ${top(e) - was}`);
});
"""


class Browser:
    """A tab of Chromium, through the protocol of its developer tools."""

    def __init__(self, chromium: str, folder: str, host: str) -> None:
        self.process = subprocess.Popen(
            [
                chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank",
            ],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in self.process.stderr:
            if "DevTools listening on " in line:
                address = urlparse(line.split()[-1])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.host, self.said, self.asked, self.count, self.events = host, [], [], 0, []
        self.socket = websocket.create_connection(f"ws://{address.netloc}{address.path}", suppress_origin=True, timeout=120)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=STILL)

    session = None

    def call(self, method: str, session: object = ..., **params: object) -> dict:
        """Call a method, and note the events that come before its answer. session: None for one of the browser, not of the tab."""
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": params}
        if session := self.session if session is ... else session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.note(answer)

    def note(self, event: dict) -> None:
        params = event.get("params", {})
        self.events.append(event.get("method"))
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.said.append(str(params["args"]))
            case "Runtime.exceptionThrown":
                self.said.append(str(params["exceptionDetails"]))
            case "Log.entryAdded":
                self.said.append(params["entry"]["text"])
            case "Page.javascriptDialogOpening":
                self.said.append("a dialog: " + params["message"])
            case "Network.requestWillBeSent":
                url = urlparse(params["request"]["url"])
                if url.scheme != "data" and url.netloc != self.host:
                    self.asked.append(params["request"]["url"])

    def wait(self, method: str) -> None:
        """Wait for an event that has not come since the last call of act."""
        while method not in self.events:
            self.note(json.loads(self.socket.recv()))

    def act(self, method: str, **params: object) -> None:
        """Call a method that leads to another page, and wait for that."""
        self.events.clear()
        self.call(method, **params)
        self.wait("Page.loadEventFired")

    def open(self, url: str) -> None:
        self.act("Page.navigate", url=url)

    # Keys without a character of their own: their text, and their code on Windows.
    NAMED = {"Enter": ("\r", 13), "Tab": ("", 9)}

    def press(self, key: str, leads: bool = False, control: bool = False) -> None:
        """Press a key. leads: it leads to another page. control: with the key Ctrl."""
        text, code = self.NAMED.get(key, (key, 0))
        self.events.clear()
        held = 2 if control else 0
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, code=key if code else "", windowsVirtualKeyCode=code, modifiers=held)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=held)
        if leads:
            self.wait("Page.loadEventFired")

    def ask(self, expression: str) -> object:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def clean(self, where: str) -> None:
        assert not self.said, f"{where}: the console says {self.said}"
        assert not self.asked, f"{where}: requests leave the host: {self.asked}"

    def refused(self, where: str) -> None:
        """Like clean, on a page with the status 400, of which the browser itself says so; one that took more than a second has the status 200."""
        assert len(self.said) <= 1 and all("status of 400" in text for text in self.said), f"{where}: the console says {self.said}"
        self.said.clear()
        self.clean(where)

    def shape(self, width: int, scheme: str) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1400, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shoot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def whole(self) -> Image.Image:
        """Picture the whole page, with zero in place of what it took. Nothing is sticky: below the screen, Chromium draws such cells
        a pixel off, sometimes."""
        self.ask("""(() => {
          for (const e of document.querySelectorAll("*")) if (getComputedStyle(e).position === "sticky") e.style.position = "static";
          const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/[0-9,]+ ms\\b/g, "0 ms");
        })()""")
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")

    def picture(self, path: Path) -> None:
        """Make a small picture for the documentation."""
        self.call("Emulation.setDeviceMetricsOverride", width=1100, height=820, deviceScaleFactor=1, mobile=False)
        self.shoot(path)
        Image.open(path).convert("RGB").quantize(48).save(path, optimize=True)
        assert path.stat().st_size < 150_000, f"{path}: {path.stat().st_size} bytes"


def by_keys(b: Browser, url: str) -> str:
    """From Health to a deal and back in time with keys alone. Give the address of the deal."""
    b.open(url + "/")
    assert b.ask("document.querySelector('h1').textContent") == "Health"
    b.press("g")
    b.press("d", leads=True)
    assert b.ask("location.pathname").endswith("/deals"), b.ask("location.href")
    name = b.ask("document.querySelector('main tbody tr td:nth-child(3)').textContent")
    b.press("/")
    b.call("Input.insertText", text=name[:12])
    b.press("Enter", leads=True)
    assert name[:12] in b.ask("document.querySelector('.lead').textContent"), "the search is not said"
    b.press("j")
    deal = b.ask("document.activeElement.getAttribute('href')")
    assert "/priced/" in deal or "/expected/" in deal, deal
    b.press("Enter", leads=True)
    address = b.ask("location.pathname")
    b.press("g")
    b.press("c", leads=True)
    before = b.ask("document.querySelector('.lead').textContent")
    b.press("[", leads=True)
    assert b.ask("location.pathname").startswith("/as-of/"), "[ does not go back"
    assert b.ask("document.title").startswith("["), b.ask("document.title")
    assert b.ask("document.querySelector('.lead').textContent") != before, "an earlier day has the same changes"
    away = b.ask("[...document.querySelectorAll('nav a, main a')].map((a) => a.pathname).filter((p) => !p.startsWith('/as-of/'))")
    assert not away, f"links leave the instant: {away}"
    b.press("n", leads=True)
    assert b.ask("location.pathname") == "/changes"
    b.press("s")
    assert b.ask("document.querySelector('.asked details').open"), "s does not show the statement"
    b.press("?")
    assert b.ask("document.querySelector('dialog').open"), "? shows no keys"
    b.clean("by keys")
    return address


def without_script(b: Browser, url: str) -> None:
    """The same with no script: search, a deal, an earlier day by its form."""
    b.call("Emulation.setScriptExecutionDisabled", value=True)
    b.open(url + "/deals?q=a")
    root = b.call("DOM.getDocument")["root"]["nodeId"]

    def find(selector: str) -> int:
        return b.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]

    assert find("main tbody tr") and find("#day option[selected]") and find("#asof .days button"), "the page is not complete without its script"
    box = b.call("DOM.getBoxModel", nodeId=find("#asof a[data-move='[']"))["model"]["content"]
    b.events.clear()
    for kind in ("mousePressed", "mouseReleased"):
        b.call("Input.dispatchMouseEvent", type=kind, x=(box[0] + box[4]) / 2, y=(box[1] + box[5]) / 2, button="left", clickCount=1)
    b.wait("Page.loadEventFired")
    history = b.call("Page.getNavigationHistory")
    now = history["entries"][history["currentIndex"]]["url"]
    assert "/as-of/" in now and now.endswith("/deals?q=a"), now
    b.call("Emulation.setScriptExecutionDisabled", value=False)
    b.clean("without a script")


def asked_without_script(b: Browser, url: str) -> None:
    """What the analyst asks, with no script: the pipeline of a service, a card's deal, the form of an analysis."""
    b.call("Emulation.setScriptExecutionDisabled", value=True)

    def click(selector: str) -> str:
        root = b.call("DOM.getDocument")["root"]["nodeId"]
        node = b.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        assert node, selector
        b.call("DOM.scrollIntoViewIfNeeded", nodeId=node)
        box = b.call("DOM.getContentQuads", nodeId=node)["quads"][0]
        b.events.clear()
        for kind in ("mousePressed", "mouseReleased"):
            b.call("Input.dispatchMouseEvent", type=kind, x=(box[0] + box[4]) / 2, y=(box[1] + box[5]) / 2, button="left", clickCount=1)
        b.wait("Page.loadEventFired")
        history = b.call("Page.getNavigationHistory")
        return history["entries"][history["currentIndex"]]["url"]

    b.open(url + "/as-of/commit-3/pipeline?service=loan")
    at = click(".board .card a")
    assert "/as-of/" in at and "/deals/loan/" in at and "/expected/" in at, at
    b.open(url + "/as-of/commit-3/analyses/league_table")
    at = click("form.interval button")
    assert "/as-of/" in at and "of_market=BOND" in at and "scope=lead" in at, at
    b.call("Emulation.setScriptExecutionDisabled", value=False)
    b.clean("asked without a script")


# A statement that does not end by itself.
ENDLESS = "SELECT count(*) FROM range(100000000000000) t(i) WHERE i % 7 = 8"


def statements(b: Browser, url: str, server: int, full: bool) -> None:
    """Statements of a reader, by keys alone: a mistake with its place, the first 1,000 rows, how it would be run, one of before, a name of the list
    and the same statement elsewhere, one that is left and one that takes too long."""

    def lead() -> str:
        return b.ask("document.querySelector('.lead').textContent")

    def run(statement: str) -> None:
        """Skip to the content, and type a statement in place of the one that is there."""
        if not b.ask("location.hash"):  # it stays where it is with the next statement
            b.press("Tab")
            b.press("Enter")
        b.press("Tab")
        assert b.ask("document.activeElement.id") == "sql", b.ask("document.activeElement.outerHTML")
        b.call("Input.dispatchKeyEvent", type="keyDown", key="a", modifiers=2, commands=["selectAll"])
        b.call("Input.insertText", text=statement)
        b.press("Enter", leads=True, control=True)

    def workers() -> set[int]:
        """The processes that the server has started."""
        return {int(p) for path in Path(f"/proc/{server}/task").glob("*/children") for p in path.read_text().split()}

    b.open(url + "/")
    b.press("g")
    b.press("s", leads=True)
    assert b.ask("location.pathname") == "/sql", b.ask("location.href")
    run("SELECT 1,\n  nothing_of_this_name FROM deals")
    said = b.ask("document.getElementById('problem').textContent").splitlines()
    line = next(i for i, text in enumerate(said) if text.startswith("LINE 2:"))
    assert said[line + 1].index("^") == said[line].index("nothing_of_this_name"), said
    assert b.ask("document.getElementById('sql').value").startswith("SELECT 1,\n"), "the statement is not there to be mended"
    b.refused("a mistake")
    run("FROM range(1, 5001)")
    assert lead().startswith("The first 1,000 rows of more"), lead()
    assert b.ask("document.querySelectorAll('main tbody tr').length") == 1000
    b.clean("1,000 rows")

    for _ in range(4):  # to the statement, the rows, Run, Explain
        b.press("Tab")
    b.press("Enter", leads=True)
    assert "RANGE" in (said := b.ask("document.querySelector('.plan').textContent")), said
    past = b.ask("[...document.querySelectorAll('#past li a')].map((a) => a.textContent)")
    assert past == ["FROM range(1, 5001)"], f"the last statements are {past}"
    b.open(url + "/")
    b.open(url + "/as-of/commit-2/sql")
    b.ask("document.querySelector('#past li a').focus()")
    b.press("Enter", leads=True)
    assert lead().startswith("The first 1,000 rows") and "/as-of/" in b.ask("location.pathname"), lead()
    b.clean("a statement of before")

    b.open(url + "/sql")
    for key in ("Tab", "Enter", "Tab"):  # skip to the content, to the statement
        b.press(key)
    b.call("Input.insertText", text="SELECT count(*) AS n FROM")
    for key in ("Tab", "Tab", "Tab", "Tab", "Enter", "Tab"):  # to the rows, Run, Explain, the names; open these; to the first
        b.press(key)
    name = b.ask("document.activeElement.textContent")
    b.press("Enter")
    assert b.ask("document.activeElement.value") == f"SELECT count(*) AS n FROM {name}", b.ask("document.activeElement.outerHTML")
    b.press("Enter", leads=True, control=True)
    assert lead().startswith("1 row,") and b.ask("document.querySelector('main th').textContent") == "n BIGINT", lead()
    b.clean("a name of the list")
    copies(b, server)

    before = workers()
    tab = b.call("Target.createTarget", session=None, url=f"{url}/sql?sql={quote(ENDLESS)}")["targetId"]
    while not (found := workers() - before):
        pass
    ends = [os.pidfd_open(pid) for pid in found]
    b.call("Target.closeTarget", session=None, targetId=tab)
    left = time.monotonic()
    for end in ends:
        assert select.select([end], [], [], 5)[0], "the statement of a closed tab goes on"
    print(f"explorer: a statement ended {time.monotonic() - left:.2f} s after its tab")
    if full:
        began = time.monotonic()
        run(ENDLESS)
        took = time.monotonic() - began
        assert "ended after its time, 10s" in b.ask("document.getElementById('problem').textContent")
        assert took < 15 and not workers(), f"{took:.1f} s, {workers()}"
        b.refused("no end")
        print(f"explorer: a statement without an end was ended after {took:.1f} s")


def copies(b: Browser, server: int) -> None:
    """The lines of an answer for other places say the same when they are run there."""
    want = b.ask("document.querySelector('main tbody td').textContent")
    line, lines = b.ask("[...document.querySelectorAll('button.copy')].map((button) => button.dataset.copy)")
    assert [line, lines] == b.ask("[...document.querySelectorAll('main details pre code')].slice(0, 2).map((code) => code.textContent)")
    path = f"{os.path.dirname(os.readlink(f'/proc/{server}/exe'))}:{os.environ['PATH']}"
    for command in (["sh", "-c", line], [sys.executable, "-c", lines]):
        said = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True).stdout
        assert want in said.replace("│", " ").split(), said


# Texts that would do something if a page obeyed them.
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=//elsewhere.example/x onerror=alert(1)>', "{{.Data}}", "</title></style></textarea></svg><b>bold</b>",
    "javascript:alert(1)", "=cmd()", "' OR 1=1 --", "&lt;i&gt;", "<base href=//elsewhere.example>", "a\u200cb \u202etfel", "\u05d0\u05d1 \u200f", "\u0007\u001b[31m\u0000",
)  # fmt: skip


def hostile(b: Browser, url: str) -> None:
    """Such texts as values, as names of columns, and in a statement with a mistake: they are shown, and do nothing."""

    def shown(text: str) -> str:
        return "".join("\ufffd" if c in "\0\u0007\u001b\u200f\u202e" else c for c in text)

    def literal(text: str) -> str:
        return " || ".join(f"chr({ord(c)})" if c < " " else "'" + c.replace("'", "''") + "'" for c in text)

    named = [text for text in HOSTILE if "\0" not in text]
    quoted = ['"' + text.replace('"', '""') + '"' for text in named]
    statement = "SELECT " + ", ".join(f"{literal(text)} AS {name}" for text, name in zip(HOSTILE, [*quoted, "last"], strict=True))
    b.open(f"{url}/sql?sql={quote(statement)}")
    cells = b.ask("[...document.querySelectorAll('main tbody td')].map((cell) => cell.title || cell.textContent)")
    assert cells == [shown(text) for text in HOSTILE], cells
    heads = b.ask("[...document.querySelectorAll('main th bdi')].map((head) => head.textContent)")
    assert heads == [shown(text) for text in [*named, "last"]], heads
    assert b.ask("document.getElementById('sql').value") == shown(statement), "the statement is not as it was asked"
    b.clean("an answer of hostile texts")
    mistake = " ".join(named)
    b.open(url + "/sql?sql=" + quote('FROM "' + mistake.replace('"', '""') + '"'))
    said = b.ask("document.getElementById('problem').textContent")
    assert "no such table" in said and shown(mistake).lower() in said.lower(), said
    b.refused("a mistake of hostile text")


def marked(b: Browser, deal: str) -> None:
    """Two versions of a deal are marked by keys, and compared."""
    b.open(deal)
    for key in "jxj":
        b.press(key)
    b.press("x", leads=True)
    assert b.ask("location.search") == "?tab=diff&against=1&v=2", b.ask("location.href")
    assert b.ask("document.querySelectorAll('table.diff tbody tr').length"), "the versions are not compared"
    b.clean("two versions")


# Pages of which the documentation has a picture.
PICTURES = ("health", "deal", "pipeline", "analysis")


# The largest share of the pixels of a page that may differ from one server to another.
DIFFERENT = 0.001


# The comparisons of lists of changes are shown.
EDITS = "document.querySelectorAll('details.edits').forEach((d) => { d.open = true; })"


def same(b: Browser, where: str, mine: Image.Image, url: str, folder: Path) -> None:
    """A page looks the same from another server: nothing of it depends on what either has answered before, or on chance."""
    host, b.host = b.host, urlparse(url).netloc
    b.open(url)
    b.ask(EDITS)
    other = b.whole()
    (b.refused if b.said else b.clean)(f"{where}, again")
    b.host = host
    assert mine.size == other.size, f"{where}: {mine.size}, and {other.size} from another server"
    changed = sum(ImageChops.difference(mine, other).convert("L").point(bool).histogram()[1:])
    if (share := changed / (mine.width * mine.height)) > DIFFERENT:
        place = folder / f"ui-{where.replace(' ', '-')}"
        mine.save(f"{place}-one.png")
        other.save(f"{place}-other.png")
        raise AssertionError(f"{where}: {share:.2%} of the pixels differ from server to server: {place}-*.png")


def look(b: Browser, url: str, twin: str, pages: dict[str, str], axe: str, folder: Path, full: bool) -> int:
    seen = 0
    b.open(url + "/")
    b.ask("localStorage.clear()")  # the twin has no last statements
    for place, (name, path) in enumerate(pages.items()):
        for turn, (width, scheme) in enumerate((w, s) for w in (1280, 390) for s in ("light", "dark")):
            if not full and turn != (0 if name in PICTURES else place % 4):
                continue
            where = f"{name} {width} {scheme}"
            b.shape(width, scheme)
            b.open(url + path)
            assert not (moved := b.ask("moved()")), f"{where}: its script moves {moved[:3]}"
            b.ask(EDITS)
            wide = b.ask("document.documentElement.scrollWidth")
            assert wide <= width, f"{where}: the page is {wide} wide"
            cut = b.ask("[...document.querySelectorAll('.chart')].filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.getAttribute('aria-label'))")
            assert not cut, f"{where}: the charts {cut} are wider than the page"
            cut = b.ask("[...document.querySelectorAll('.wide:has(.diff)')].filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.getAttribute('aria-label'))")
            assert not cut, f"{where}: {cut} are wider than the page: what is would be off the screen"
            if name == "deals" and width > 1000:
                assert b.ask("document.querySelector('.wide').scrollWidth <= document.querySelector('.wide').clientWidth"), f"{where}: the last column is off the screen"
            b.shoot(folder / f"ui-{name}-{width}-{scheme}.png")
            mine = b.whole() if twin else None
            b.ask(axe + "; 0")
            found = b.ask("axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' | ')))")
            assert not found, f"{where}: {found}"
            if name in PICTURES and scheme == "light" and width > 1000:
                b.picture(folder / f"ui-{name}.png")
            (b.refused if name == "mistake" else b.clean)(where)
            if mine:
                b.shape(width, scheme)
                same(b, where, mine, twin + path, folder)
            seen += 1
        if full:
            b.shape(320, "light")
            b.open(url + path)
            wide = b.ask("document.documentElement.scrollWidth")
            assert wide <= 320, f"{name}: at 320 px the page is {wide} wide"
            b.said.clear()
    return seen


def printed(b: Browser, url: str, pages: dict[str, str], folder: Path) -> None:
    """On paper a pinned page says as of when it is and where it was, in light colours; it has no navigation, and nothing is cut off at the side."""
    for name, path in pages.items():
        where = f"{name} in print"
        b.shape(1280, "dark")
        b.open(f"{url}/as-of/commit-2{path}")
        b.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        shown = "[...document.querySelectorAll('.top, .moves, .saves, .filters, .asked, #theme, #keys')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80))"
        assert not (left := b.ask(shown)), f"{where}: {left}"
        assert "/as-of/" in b.ask("[...document.querySelectorAll('.address')].filter((e) => e.checkVisibility()).map((e) => e.textContent).join()"), f"{where}: no address"
        assert b.ask("document.querySelector('.said').checkVisibility() && document.querySelector('.said').textContent").startswith("AS OF "), where
        b.call("Emulation.setDeviceMetricsOverride", width=740, height=1000, deviceScaleFactor=1, mobile=False)
        # Wider content is printed smaller, but a box that scrolls is cut off.
        cut = b.ask("[...document.querySelectorAll('main, main *')].filter((e) => getComputedStyle(e).overflowX != 'visible' && e.scrollWidth > e.clientWidth + 1 && !e.closest('.hidden, caption')).map((e) => e.outerHTML.slice(0, 80))")
        assert not cut, f"{where}: cut off at the side: {cut[:3]}"
        assert (back := b.ask("getComputedStyle(document.body).backgroundColor")) == "rgb(255, 255, 255)", f"{where}: the paper is {back}"
        pdf = base64.b64decode(b.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"])
        (folder / f"ui-{name}.pdf").write_bytes(pdf)
        assert pdf.startswith(b"%PDF-") and len(pdf) > 20_000, f"{where}: {len(pdf)} bytes"
        b.clean(where)
    print(f"explorer: {len(pages)} pages printed")


def main(chromium: str, axe: str, url: str, server: str, place: str, cases: str, twin: str = "", empty: str = "") -> None:
    url, folder = url.rstrip("/"), Path(place)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
        b = Browser(chromium, own, urlparse(url).netloc)
        try:
            b.shape(1280, "light")
            b.open("data:text/html,<script>console.error('heard')</script>")
            assert b.said and "heard" in b.said[0], "a console message went unnoticed"
            b.said.clear()
            deal = by_keys(b, url)
            without_script(b, url)
            asked_without_script(b, url)
            statements(b, url, int(server), cases == "full")
            hostile(b, url)
            b.open(url + "/changes")
            diff = b.ask("[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href')).find((h) => h.includes('tab=diff'))")
            diff = "/" + diff.removeprefix("./")
            marked(b, url + diff.split("?")[0])
            pages = {
                "health": "/", "deal": diff.split("?")[0], "deals": "/deals", "diff": diff, "changes": "/changes", "runs": "/runs",
                "pinned": "/as-of/commit-2/deals", "fields": deal + "?tab=fields", "tables": "/tables/bond_priced_price_evolution",
                "column": "/tables/bond_priced_deals/spread",
                "pipeline": "/pipeline?service=loan", "analysis": "/analyses/execution_by?market=IG&from_date=2024-01-01",
                "sql": "/as-of/commit-2/sql?rows=40&sql=" + quote("SELECT market, deal_id, pricing_date, borrower_name, currency, nominal_amount\nFROM bond_priced_deals\nORDER BY ALL"),
            }  # fmt: skip
            if cases == "full":
                early = "/as-of/2020-01-01T00:00:00Z/"
                pages |= {"console": "/sql", "mistake": "/sql?sql=" + quote("SELECT 1,\n  nothing_of_this_name FROM deals")}
                pages |= {"lists": deal + "?tab=lists", "payload": deal + "?tab=payload", "run": "/runs/2", "early": early}
                pages |= {"bonds": "/pipeline?service=bond", "tranches": "/pipeline?view=table&service=loan", "analyses": "/analyses"}
                pages |= {"league": "/analyses/league_table?from_date=2024-01-01", "volume": "/analyses/issuance_volume", "form": "/analyses/vintages"}
            seen = look(b, url, twin.rstrip("/"), pages, Path(axe).read_text(), folder, cases == "full")
            if empty:  # a lake without a commit
                b.host = urlparse(empty).netloc
                nothing = {"nothing": "/", "no-deals": "/deals", "no-changes": "/changes", "no-plans": "/pipeline", "no-runs": "/runs", "no-tables": "/tables", "no-answer": "/analyses/league_table"}
                nothing |= {"no-sql": "/sql?sql=FROM+deals", "before": "/as-of/2026-01-08T06:00:00Z/deals"}
                seen += look(b, empty.rstrip("/"), "", nothing, Path(axe).read_text(), folder, True)
                b.host = urlparse(url).netloc
            if cases == "full":
                printed(b, url, {name: pages[name] for name in ("health", "deals", "pipeline", "analysis")}, folder)
            print(f"explorer: {seen} pages looked at{', each the same from two servers' if twin else ''}; by keys, and without a script; nothing asked for elsewhere, nothing said")
        finally:
            b.process.terminate()
            b.process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
