"""The explorer in a real browser: by keys alone, without a script, in both colour schemes and two widths.

usage: check_ui.py CHROMIUM AXE URL FOLDER CASES

AXE is the file of axe-core. URL is that of a running explorer. Screenshots stay in FOLDER, to be looked at: of some pages,
or, with CASES "full", of each page in each scheme and width. No page may have a serious finding of axe, a message on the
console, a request to another host, or more width than the screen.
"""

import base64
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlparse

import websocket
from PIL import Image


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

    session = None

    def call(self, method: str, **params: object) -> dict:
        """Call a method, and note the events that come before its answer."""
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
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

    def press(self, key: str, leads: bool = False) -> None:
        """Press a key. leads: it leads to another page."""
        text = {"Enter": "\r"}.get(key, key)
        self.events.clear()
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, code=key if key == "Enter" else "", windowsVirtualKeyCode=13 if key == "Enter" else 0)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        if leads:
            self.wait("Page.loadEventFired")

    def ask(self, expression: str) -> object:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def clean(self, where: str) -> None:
        assert not self.said, f"{where}: the console says {self.said}"
        assert not self.asked, f"{where}: requests leave the host: {self.asked}"

    def shape(self, width: int, scheme: str) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1400, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shoot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

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


# Pages of which the documentation has a picture.
PICTURES = ("health", "deal", "pipeline", "analysis")


def look(b: Browser, url: str, pages: dict[str, str], axe: str, folder: Path, full: bool) -> int:
    seen = 0
    for place, (name, path) in enumerate(pages.items()):
        for turn, (width, scheme) in enumerate((w, s) for w in (1280, 390) for s in ("light", "dark")):
            if not full and turn != (0 if name in PICTURES else place % 4):
                continue
            where = f"{name} {width} {scheme}"
            b.shape(width, scheme)
            b.open(url + path)
            wide = b.ask("document.documentElement.scrollWidth")
            assert wide <= width, f"{where}: the page is {wide} wide"
            b.shoot(folder / f"ui-{name}-{width}-{scheme}.png")
            b.ask(axe + "; 0")
            found = b.ask("axe.run().then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' | ')))")
            assert not found, f"{where}: {found}"
            if name in PICTURES and scheme == "light" and width > 1000:
                b.picture(folder / f"ui-{name}.png")
            b.clean(where)
            seen += 1
    return seen


def main(chromium: str, axe: str, url: str, place: str, cases: str) -> None:
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
            b.open(url + "/changes")
            diff = b.ask("[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href')).find((h) => h.includes('tab=diff'))")
            diff = "/" + diff.removeprefix("./")
            pages = {
                "health": "/", "deal": diff.split("?")[0], "deals": "/deals", "diff": diff, "changes": "/changes", "runs": "/runs",
                "pinned": "/as-of/commit-2/deals", "fields": deal + "?tab=fields", "tables": "/tables/bond_priced_price_evolution",
                "pipeline": "/pipeline?service=loan", "analysis": "/analyses/execution_by?market=IG&from_date=2024-01-01",
            }  # fmt: skip
            if cases == "full":
                early = "/as-of/2020-01-01T00:00:00Z/"
                pages |= {"lists": deal + "?tab=lists", "payload": deal + "?tab=payload", "run": "/runs/2", "early": early}
                pages |= {"bonds": "/pipeline?service=bond", "tranches": "/pipeline?view=table&service=loan", "analyses": "/analyses"}
                pages |= {"league": "/analyses/league_table?from_date=2024-01-01", "volume": "/analyses/issuance_volume", "form": "/analyses/vintages"}
            seen = look(b, url, pages, Path(axe).read_text(), folder, cases == "full")
            print(f"explorer: {seen} pages looked at; by keys, and without a script; nothing asked for elsewhere, nothing said")
        finally:
            b.process.terminate()
            b.process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
