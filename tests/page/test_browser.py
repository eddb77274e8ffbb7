"""The page in a real browser: it sorts, filters, grows, opens, saves, complains of nothing and asks for nothing.

Chromium without a window, driven by its own driver. Where there is none, one line says what was not run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner import render
from planner.page.verdict import what_to_do
from planner.render.text import word
from planner.site.site_answer import SiteAnswer
from planner.sizing.comparison import Count
from tests.page import made
from tests.page.browser import OWN, Page, missing, opened

POOLS, VOLUMES = 12, 20
VISIBLE = (
    "return [...document.querySelectorAll('#p0-pools tbody tr')].filter((row) => row.getClientRects().length)"
    ".map((row) => [...row.cells].map((cell) => cell.textContent));"
)
WHY = missing()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(WHY), reason=WHY),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(made.page(POOLS, VOLUMES).html, encoding="utf-8")
    return path


@pytest.fixture
def page(file: Path) -> Iterator[Page]:
    """A fresh page; whatever a test did, nothing was complained of and nothing asked for."""
    with opened(file) as found:
        yield found
        assert not found.complaints()
        assert [url for url in found.requests() if not url.startswith(OWN)] == []


def heads(page: Page, table: str) -> dict[str, int]:
    script = "return [...document.getElementById(arguments[0]).tHead.rows[0].cells].map((cell) => cell.dataset.key);"
    return {name: k for k, name in enumerate(page.driver.execute_script(script, table))}


def read(text: str) -> float:
    """A number as people read it."""
    return float(text.replace(",", ""))


def printed(found: SiteAnswer) -> dict[str, dict[str, Any]]:
    """Pools of the answer as `--json` prints them, by the name that the page shows."""
    pools = json.loads(render.to_json(found.to_dict()))["pools"]
    return {need.name: each for need, each in zip(found.pools, pools, strict=True)}


def press(page: Page, table: str, place: int) -> str:
    """Press the button of a column by the keyboard, and say how it is sorted then."""
    head = page.all(f"#{table} thead th")[place]
    head.find_element("css selector", "button").send_keys("\ue007")
    return str(head.get_attribute("aria-sort"))


def test_numbers_sort_as_numbers_and_words_as_words(page: Page) -> None:
    place = heads(page, "p0-pools")
    for name, first in (("io_rate", "descending"), ("short_share", "descending"), ("pool", "ascending")):
        assert press(page, "p0-pools", place[name]) == first
        down = page.column("p0-pools", place[name])
        assert press(page, "p0-pools", place[name]) != first
        up = page.column("p0-pools", place[name])
        if name == "pool":
            assert down == sorted(down)
        else:
            assert list(map(read, down)) == sorted(map(read, down), reverse=True)
            assert list(map(read, up)) == sorted(map(read, up))
    states = [each.get_attribute("aria-sort") for each in page.all("#p0-pools thead th")]
    assert sum(state != "none" for state in states) == 1


@pytest.mark.parametrize(
    ("key", "figure"), [("recommended", "needed"), ("needed_worst", "needed_worst"), ("volumes",) * 2]
)
def test_sorted_rows_are_those_of_the_answer(page: Page, key: str, figure: str) -> None:
    """The order of the rows is that of the JSON; equal ones stay as they were."""
    place, answer = heads(page, "p0-pools"), printed(made.site(POOLS))
    for direction in ("descending", "ascending"):
        before = page.column("p0-pools", 0)
        assert press(page, "p0-pools", place[key]) == direction
        sign = -1 if direction == "descending" else 1
        names = page.column("p0-pools", 0)
        assert names == sorted(before, key=lambda name: sign * answer[name][figure])
        assert [read(each) for each in page.column("p0-pools", place[key])] == [
            answer[n][figure] for n in names
        ]


def test_rows_are_found_by_word_and_by_verdict(page: Page) -> None:
    place = heads(page, "p0-pools")
    form = "form[data-for='p0-pools']"
    page.one(f"{form} input").send_keys("lcu003")
    assert [name.endswith("LCU003") for name in page.column("p0-pools", 0)] == [True]
    assert page.one(f"{form} output").text == f"1 of {POOLS} rows"
    page.one(f"{form} input").clear()
    page.one(f"{form} input").send_keys("\ue003")
    page.run(f"const s = document.querySelector(\"{form} select\"); s.value = 'short';"
             "s.dispatchEvent(new Event('input', {bubbles: true}));")  # fmt: skip
    short = [each for each in made.site(POOLS).pools if each.verdict == "short"]
    assert page.column("p0-pools", place["verdict"]) == ["short"] * len(short)


def test_the_slider_moves_tiles_counts_and_verdicts(page: Page) -> None:
    place = heads(page, "p0-pools")
    found = made.site(POOLS)
    before = dict(zip(page.column("p0-pools", 0), page.column("p0-pools", place["recommended"]), strict=True))
    slider = page.one("#growth0")
    assert slider.is_displayed()
    assert slider.get_attribute("aria-valuetext") == "as measured"
    slider.send_keys("\ue014\ue014")  # two steps to the right, by the keyboard
    assert slider.get_attribute("aria-valuetext") == "+50 %"
    after = dict(zip(page.column("p0-pools", 0), page.column("p0-pools", place["recommended"]), strict=True))
    assert {name: int(after[name]) - int(text) for name, text in before.items()} == dict.fromkeys(before, 5)
    shown = {tile.find_element("css selector", "dt").text: tile.find_element("css selector", ".value").text
             for tile in page.all(".tile")}  # fmt: skip
    short = sum((each.needed or 0) + 5 > each.in_use for each in found.pools)
    assert shown["pools short"] == str(short)
    assert page.column("p0-pools", place["verdict"]).count("short") == short
    slider.send_keys("\ue010\ue011")  # End, Home
    again = dict(zip(page.column("p0-pools", 0), page.column("p0-pools", place["recommended"]), strict=True))
    assert again == before


def test_a_link_to_a_pool_opens_it_and_its_pictures_have_a_size(page: Page) -> None:
    assert not page.all("details[open]")
    page.one("#p0-pools tbody tr a").send_keys("\ue007")
    (item,) = page.all("details[open]")
    sizes = [svg.size for svg in item.find_elements("css selector", "svg.chart")]
    assert len(sizes) == 4
    assert all(each["width"] > 200 and each["height"] > 80 for each in sizes)
    page.one("button[data-close]").click()
    assert not page.all("details[open]")
    page.one("button[data-open]").click()
    assert len(page.all("details[open]")) == POOLS


def test_all_volumes_are_drawn_when_they_are_looked_at(page: Page) -> None:
    count = POOLS * VOLUMES
    assert len(page.column("volumes", 0)) == 100
    page.one("form[data-lazy] .more").send_keys("\ue007")
    assert len(page.column("volumes", 0)) == count
    busy = [each.text.split("\n")[0].strip(" ↕") for each in page.all("#volumes thead th")].index("busy")
    assert press(page, "volumes", busy) == "descending"
    values = [read(each) for each in page.column("volumes", busy)]
    assert values == sorted(values, reverse=True)
    page.one("form[data-lazy] input").send_keys("lcu001 101")
    labels = page.column("volumes", 0)
    assert labels
    assert all("101" in row.text and "LCU001" in row.text for row in page.all("#volumes tbody tr"))


def test_data_are_saved_as_the_command_prints_them(page: Page) -> None:
    found = made.site(POOLS)
    for button in page.all("button[data-save]"):
        button.click()
    wanted = {"report.json", "pools.csv", "volumes.csv"}
    for _ in range(100):
        if wanted <= {each.name for each in page.downloads.iterdir()}:
            break
        time.sleep(0.1)
    assert json.loads((page.downloads / "report.json").read_text(encoding="utf-8")) == [
        json.loads(render.to_json(found.to_dict()))
    ]
    assert (page.downloads / "pools.csv").read_text(encoding="utf-8") == render.to_csv(found.table())


def test_hostile_names_run_nothing(page: Page) -> None:
    with pytest.raises(Exception, match="no such alert"):
        page.driver.switch_to.alert.accept()
    assert not page.all("img")


def test_nothing_lies_beside_a_narrow_screen_or_a_sheet_of_paper(page: Page) -> None:
    """Wide tables scroll in their own box; only the page itself may not."""
    for width in (360, 1200):
        page.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
        )
        page.one("button[data-open]").click()
        assert page.run("return document.documentElement.scrollWidth") <= width


def test_both_schemes_can_be_read(page: Page) -> None:
    """Text against its ground: 4.5 to 1 (WCAG 2.2, 1.4.3), the shades and every verdict among them."""
    script = (
        "const sheet = getComputedStyle(document.documentElement);"
        "return Object.fromEntries(arguments[0].map((name) => [name, sheet.getPropertyValue(name).trim()]));"
    )
    names = ["--paper", "--ink", "--soft", "--link", "--card", *(f"--h{k}" for k in range(1, 4))]
    states = ["bad", "good", "spare", "open"]
    names += [f"--{state}" for state in states] + [f"--{state}-ground" for state in states]
    for scheme in ("light", "dark"):
        page.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        colors = page.driver.execute_script(script, names)
        pairs = [("--ink", f"--h{k}") for k in range(1, 4)] + [(f"--{s}", f"--{s}-ground") for s in states]
        pairs += [("--ink", "--paper"), ("--soft", "--paper"), ("--link", "--paper"), ("--soft", "--card")]
        for text, ground in pairs:
            assert contrast(colors[text], colors[ground]) >= 4.5, (scheme, text, ground)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colors (WCAG 2.2, relative luminance)."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    digits = color.lstrip("#")
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def step_to(page: Page, step: int) -> None:
    page.run(f"const s = document.getElementById('growth0'); s.value = {step};"
             "s.dispatchEvent(new Event('input', {bubbles: true}));")  # fmt: skip


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_the_page_shows_the_answers_of_every_step(page: Page, step: int) -> None:
    """Sentence, tiles, rows, order and badges are those of the answer that `--json` prints for that growth."""
    found, share = made.site(POOLS), (0.0, 0.2, 0.5, 1.0)[step]
    states = {
        each.name: Count(each.needed, each.needed_low, each.needed_high, each.in_use) for each in found.pools
    }
    if share:
        states |= {pool.name: Count(pool.recommended, *(pool.range or (None, None)), in_use=states[pool.name].in_use)
                   for pool in made.grown(found, share).pools}  # fmt: skip
    place = heads(page, "p0-pools")
    step_to(page, step)
    shown = {key: page.column("p0-pools", place[key]) for key in
             ("pool", "recommended", "recommended_low", "recommended_high", "in_use", "verdict")}  # fmt: skip
    verdicts = dict(zip(shown["pool"], shown["verdict"], strict=True))
    assert verdicts == {name: state.verdict for name, state in states.items()}
    for name, *counts in zip(shown["pool"], *list(shown.values())[1:5], strict=True):
        assert tuple(map(int, counts)) == states[name][:4]
    ranks = [("short", "enough", "spare").index(each) for each in shown["verdict"]]
    assert step == 0 or ranks == sorted(ranks)
    badges = page.run("return [...document.querySelectorAll('details.item')].map((item) =>"
                      "[item.dataset.name, item.querySelector('summary .verdict').textContent]);")  # fmt: skip
    assert dict(badges) == verdicts
    said = page.one("#part0 [data-says]").text
    assert said == what_to_do(states, share)
    tiles = {tile.find_element("css selector", "dt").text: tile.find_element("css selector", ".value").text
             for tile in page.all(".tile")}  # fmt: skip
    assert tiles["pools short"] == str(list(verdicts.values()).count("short"))
    assert tiles["aliases needed"] == str(sum(state.needed or 0 for state in states.values()))
    assert tiles["in use"] == str(sum(state[3] for state in states.values()))
    dimmed = page.run(
        "return [...document.querySelectorAll('#part0 .still')].map((e) => getComputedStyle(e).opacity);"
    )
    assert {float(each) < 1 for each in dimmed} == {step > 0}


def test_a_table_that_does_not_fit_says_so_and_keeps_its_names(page: Page) -> None:
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )  # fmt: skip
    box = page.one("#p0-pools").find_element("xpath", "..")
    for _ in range(50):
        if "wide" in box.get_attribute("class"):
            break
        time.sleep(0.1)
    assert box.find_element("css selector", ".wider").is_displayed()
    place = "return document.querySelector('#p0-pools tbody th').getBoundingClientRect().left"
    before = page.run(place)
    page.run("document.querySelector('#p0-pools').parentElement.scrollLeft = 200")
    assert page.run(place) == before


def test_on_paper_no_control_is_left(page: Page) -> None:
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not [each for each in page.all(".filter, .growth input, .all, nav") if each.is_displayed()]
    assert page.one("#part0 [data-says]").is_displayed()
    place, answer = heads(page, "p0-pools"), printed(made.site(POOLS))
    shown = {row[0]: row for row in page.run(VISIBLE)}
    assert set(shown) == set(answer)
    for name, row in shown.items():
        pairs = {
            "in_use": "in_use",
            "recommended": "needed",
            "needed_worst": "needed_worst",
            "volumes": "volumes",
        }
        assert {key: read(row[place[key]]) for key in pairs} == {
            key: answer[name][of] for key, of in pairs.items()
        }
        assert row[place["verdict"]] == word(answer[name]["verdict"])
    page.run("document.querySelector('#p0-pools tbody tr').style.display = 'none'")
    assert len(page.run(VISIBLE)) == POOLS - 1, "a row that paper does not show would be noticed"
