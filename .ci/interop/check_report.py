"""A report in a real browser: how it looks, what it asks for, what the browser says of it.

usage: check_report.py CHROMIUM PAGE FOLDER CASES

Screenshots and the printed PDF stay in FOLDER, to be looked at: of the dark page only, or, with CASES "full", also of
the light one, of both when narrow, and in print.
"""

import json
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from PIL import Image

# The page's background in style.css, by colour scheme as Chromium's settings count them.
SCHEMES = {"light": (1, (0xFF, 0xFF, 0xFF)), "dark": (0, (0x14, 0x17, 0x1B))}

# A page that does what a report must not, to see that it would be noticed.
CONTROL = """<!doctype html><title>control</title><img src="http://example.invalid/a.png"><script>console.error("heard")</script>"""


class Attributes(HTMLParser):
    """Everything in a page that could make a browser ask for something or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.charts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.charts += tag == "svg"
        if tag in ("script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image", "foreignobject"):
            self.found.append(tag)
        for name, value in attrs:
            asks = name in ("src", "srcset", "style", "background", "action", "poster", "data") or name.startswith("on")
            if asks or ("href" in name and not (value or "").startswith("#")):
                self.found.append(f"{tag} {name}={value}")


class Browser:
    """Chromium, whose own files lie in a folder."""

    def __init__(self, chromium: str, folder: Path) -> None:
        self.chromium, self.folder = chromium, folder

    def show(self, page: Path, *options: str) -> tuple[str, list[str], list[str]]:
        """Open a page; give what the browser printed, what the page asked for, and what the console said.

        The browser asks for things of its own (updates, the time), which no page initiated. No name leads anywhere.
        """
        log = self.folder / "netlog.json"
        log.unlink(missing_ok=True)
        done = subprocess.run(
            [
                self.chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.folder / 'profile'}", f"--log-net-log={log}",
                "--enable-logging=stderr", *options, page.as_uri(),
            ],
            check=True, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        events = json.loads(log.read_text())["events"]
        starts = [e["params"] for e in events if "initiator" in e.get("params", {})]
        asked = sorted({start["url"] for start in starts if start["initiator"] != "not an origin"})
        return done.stdout, asked, re.findall(r"CONSOLE.*", done.stderr)


def check(browser: Browser, page: Path, *options: str) -> str:
    printed, asked, said = browser.show(page, *options)
    assert not asked, f"the page asks for {asked}"
    assert not said, f"the console says {said}"
    return printed


def main(chromium: str, name: str, place: str, cases: str) -> None:
    page, folder = Path(name).resolve(), Path(place).resolve()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
        look(Browser(chromium, Path(own)), page, folder, cases == "full")


def look(browser: Browser, page: Path, folder: Path, full: bool) -> None:
    control = browser.folder / "control.html"
    control.write_text(CONTROL)
    _, asked, said = browser.show(control, "--dump-dom")
    assert any("example.invalid" in url for url in asked), f"a request went unnoticed: {asked}"
    assert any("heard" in line for line in said), f"a console message went unnoticed: {said}"

    html = page.read_text()
    source = Attributes()
    source.feed(html)
    assert not source.found, source.found
    assert "default-src 'none'" in html and source.charts > 5, f"{source.charts} charts"

    shown = Attributes()
    shown.feed(check(browser, page, "--dump-dom"))
    assert shown.charts == source.charts and not shown.found, f"{shown.charts} charts of {source.charts} in the browser, {shown.found}"

    shapes = {"wide": "1100,2400", "narrow": "500,2400"}
    for scheme in SCHEMES if full else ("dark",):
        setting, background = SCHEMES[scheme]
        for shape in shapes if full else ("wide",):
            shot = folder / f"{scheme}-{shape}.png"
            check(browser, page, f"--blink-settings=preferredColorScheme={setting}", f"--window-size={shapes[shape]}", f"--screenshot={shot}")
            image = Image.open(shot).convert("RGB")
            assert image.getpixel((2, 2)) == background, f"{shot.name}: the background is {image.getpixel((2, 2))}, want {background}"
            colours = image.getcolors(1 << 24)
            assert len(colours) > 100, f"{shot.name}: {len(colours)} colours"

    print(f"{page.name}: {source.charts} charts; nothing asked for, nothing said, in {browser.chromium}")
    if not full:
        return
    pdf = folder / "report.pdf"
    check(browser, page, "--no-pdf-header-footer", f"--print-to-pdf={pdf}")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))
    assert pages > 2, f"{pages} pages in print"
    print(f"{page.name}: light and dark, wide and narrow, {pages} pages in print")


if __name__ == "__main__":
    main(*sys.argv[1:])
