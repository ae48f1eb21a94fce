"""The viewer's page in a real browser: Debian's chromium, driven by selenium."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_buckets import made_buckets

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve import mccfr
from jaxsolve.solvers import view_result
from jaxsolve.view import Viewable, serve

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,  # a browser takes seconds to start
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None,
        reason="no browser: apt-get install chromium chromium-driver",
    ),
    # of selenium's own sockets and the driver that it starts
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

RIVER = {
    "board": "Ts9s8s2h2c",
    "pot": 100,
    "stack": 100,
    "oop": "JJ,77,AKo",
    "ip": "TT,66,AQo",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}


@pytest.fixture(scope="module")
def kuhn() -> js.Result:
    return js.solve("kuhn", iterations=300, measure_every=100, progress=False)


@pytest.fixture(scope="module")
def river() -> he.SpotResult:
    return he.solve(he.Spot.parse(RIVER), iterations=100, progress=False)


@pytest.fixture(scope="module")
def charts() -> str:
    """The page of a blueprint for three players."""
    street = {"sizes": [["100%", "a"]]}
    streets = dict.fromkeys(("preflop", "flop", "turn", "river"), street)
    menu = he.BetMenu.parse({"players": 3, "stack": "5bb", **streets})
    game = he.holdem_game(menu, made_buckets(3))
    sampler = mccfr.ExternalSampler(game, mccfr.Options())
    made = he.Blueprint(game, sampler.run(mccfr.make_tables(game), 3_000)[0], 60.0)
    return he.preflop_page(made, count=4, positions=he.position_reports(made, hands=300))


class Browser:
    """A browser without a window."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for word in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
            options.add_argument(f"--{word}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(DRIVER)
        self.driver: Any = webdriver.Chrome(options=options, service=service)

    def open(
        self, address: str, *, width: int = 1280, scheme: str = "light", shows: str = "#title"
    ) -> None:
        """Opens a page and waits until an element of it has text."""
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")
        self.driver.get(address)
        self.wait(lambda: self.text(shows) != "")

    def wait(self, true: Callable[[], bool], seconds: float = 60) -> None:
        """Returns once a condition holds."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, f"{self.text('body')}\n{self.errors()}"
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """Returns the value of a script's `return`."""
        return self.driver.execute_script(script)

    def text(self, selector: str) -> str:
        """Returns the text that an element shows."""
        return str(self.run(f"return document.querySelector({selector!r})?.innerText ?? ''"))

    def click(self, selector: str) -> None:
        """Clicks on the first element."""
        self.driver.find_element("css selector", selector).click()

    def press(self, *keys: str) -> None:
        """Presses keys where the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def errors(self) -> list[str]:
        """Returns what the console says is wrong."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    one = Browser()
    yield one
    one.driver.quit()


@pytest.fixture
def served() -> Iterator[Callable[[Viewable], str]]:
    """Starts servers; returns their addresses."""
    servers = []

    def start(shown: Viewable) -> str:
        server = serve(shown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def luminance(colour: str) -> float:
    red, green, blue = (int(x) for x in colour.strip("rgb()").split(",")[:3])
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def test_keys_walk_the_tree(browser: Browser, served: Any, kuhn: js.Result):
    keys = webdriver.Keys
    browser.open(served(view_result(kuhn)))
    assert browser.text("#title") == "player 0 to act"
    assert browser.run("return document.querySelectorAll('#hands tbody tr').length") == 3
    browser.press(keys.ARROW_DOWN, keys.ARROW_RIGHT)
    browser.wait(lambda: browser.text("#title") == "player 1 to act")
    assert "K|b" in browser.text("#hands")
    browser.press(keys.ARROW_RIGHT)
    browser.wait(lambda: browser.text("#title") == "the end")
    browser.press(keys.BACKSPACE)
    browser.wait(lambda: browser.text("#title") == "player 1 to act")
    browser.press(keys.HOME)
    browser.wait(lambda: browser.text("#title") == "player 0 to act")
    assert browser.errors() == []


def test_lock_and_solve_again(browser: Browser, served: Any, kuhn: js.Result):
    browser.open(served(view_result(kuhn)) + '#["bet"]')
    assert browser.text("#title") == "player 1 to act"
    before = browser.text("#facts")
    browser.run(
        "[...document.querySelectorAll('#hands tr')].find(r => /K.b/.test(r.innerText)).click()"
    )
    browser.run("document.querySelectorAll('.lock input').forEach((x, k) => x.value = k ? 0 : 100)")
    browser.click(".lock button")
    browser.wait(lambda: "bet: K|b → pass 100%" in browser.text("#locked"))
    browser.click("#solve")
    browser.wait(lambda: bool(browser.run("return document.querySelector('#hands tr.held')")))
    assert browser.text("#facts") != before
    assert "player 1: K|b" in browser.text("#detail")
    browser.click("#locked button")
    browser.wait(lambda: browser.text("#locked") == "")
    assert browser.errors() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_widths_and_schemes(
    browser: Browser, served: Any, river: he.SpotResult, width: int, scheme: str
):
    browser.open(served(he.view_spot(river)), width=width, scheme=scheme)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    colours = [
        browser.run(f"return getComputedStyle(document.body).{k}")
        for k in ("backgroundColor", "color")
    ]
    back, ink = map(luminance, colours)
    assert (back > 0.9 and ink < 0.2) if scheme == "light" else (back < 0.2 and ink > 0.8)
    assert browser.run("return document.querySelectorAll('#grid button').length") == 169
    for mode in ("reach", "EV", "equity", "strategy"):
        browser.run(f"document.getElementById('mode').value = '{mode}'")
        browser.run("document.getElementById('mode').dispatchEvent(new Event('change'))")
        assert (
            browser.run("return document.querySelectorAll('#grid button:not(.none)').length") == 3
        )
    assert browser.errors() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_charts_of_a_blueprint(
    browser: Browser, tmp_path: Path, charts: str, width: int, scheme: str
):
    (tmp_path / "preflop.html").write_text(charts)
    page = (tmp_path / "preflop.html").as_uri()
    browser.open(page, width=width, scheme=scheme, shows="h1")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    size = "const box = document.querySelector('figure td').getBoundingClientRect(); return box."
    assert browser.run(f"{size}width") >= 24
    assert browser.run(f"{size}height") >= 22
    ink = browser.run("return getComputedStyle(document.body).color")
    assert (luminance(ink) < 0.2) == (scheme == "light")
    assert browser.text("figure output") == ""
    cell = browser.driver.find_element("css selector", "figure td")
    if width == 390:
        cell.click()  # a finger has no tooltip
    else:
        webdriver.ActionChains(browser.driver).move_to_element(cell).perform()
    assert browser.text("figure output").startswith("AA: weight 1.000: f ")
    assert browser.errors() == []


def test_grid_shows_hands_and_has_labels(browser: Browser, served: Any, river: he.SpotResult):
    keys = webdriver.Keys
    browser.open(served(he.view_spot(river)))
    assert browser.run("return document.querySelectorAll('#grid [tabindex=\"0\"]').length") == 1
    browser.run("document.querySelector('#grid [tabindex=\"0\"]').focus()")  # AKo
    browser.press(
        keys.ARROW_DOWN, keys.ARROW_DOWN, keys.ARROW_RIGHT, keys.ARROW_RIGHT, keys.ARROW_RIGHT
    )
    label = browser.driver.switch_to.active_element.get_attribute("aria-label")
    assert label.startswith("JJ: 6.0 combinations, check ")
    browser.press(keys.ENTER)
    assert "oop: JJ" in browser.text("#detail")
    assert browser.text("#detail").count("J♥") == 3
    unnamed = (
        "return [...document.querySelectorAll('button, select, input')]"
        ".filter(x => !x.innerText && !x.ariaLabel && !x.labels?.length).length"
    )
    assert browser.run(unnamed) == 0
    assert browser.text("#title") == "oop to act"  # arrows on the grid do not walk the tree


def test_file_and_notebook_need_no_server(
    browser: Browser, kuhn: js.Result, river: he.SpotResult, tmp_path: Path
):
    river.view().save(tmp_path / "river.html")
    browser.open((tmp_path / "river.html").as_uri())
    browser.click(".step.now button")
    browser.wait(lambda: browser.text("#title") == "ip to act")
    assert browser.run("return document.getElementById('locks').hidden")
    assert browser.errors() == []

    (tmp_path / "cell.html").write_text(f"<!doctype html>{kuhn.view()._repr_html_()}")
    browser.driver.get((tmp_path / "cell.html").as_uri())
    browser.driver.switch_to.frame(0)
    browser.wait(lambda: browser.text("#title") == "player 0 to act")
    browser.click(".step.now button:nth-of-type(2)")
    browser.wait(lambda: browser.text("#title") == "player 1 to act")
    browser.driver.switch_to.default_content()
    assert browser.errors() == []
