"""The page: one file that asks nothing of any network, escapes what others wrote, and needs no mouse."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from planner import render
from planner.page.build import growths, report_of
from planner.page.content import grid
from planner.page.layout import ACCURACY, embedded, inputs
from planner.page.parts import part_of
from planner.page.verdict import how_sure
from planner.render.text import SHORT, SPARE, word
from planner.site.site_answer import SiteAnswer
from planner.sizing.gaps import Gaps
from tests.page import accuracy, made
from tests.page.made import HOSTILE

POOLS, VOLUMES = 6, 5
VOID = {"meta", "link", "input", "img", "br", "hr"}


class Elements(HTMLParser):
    """Every element with its attributes, its text, and the elements that it stands in."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str], list[str]]] = []
        self.texts: dict[int, str] = {}
        self.open: list[tuple[str, int]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {k: v or "" for k, v in attrs}, [name for name, _ in self.open]))
        if tag not in VOID:
            self.open.append((tag, len(self.found) - 1))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {k: v or "" for k, v in attrs}, [name for name, _ in self.open]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for _, place in self.open:
            self.texts[place] = self.texts.get(place, "") + data

    def of(self, tag: str) -> list[tuple[dict[str, str], str]]:
        return [
            (attrs, self.texts.get(k, "")) for k, (name, attrs, _) in enumerate(self.found) if name == tag
        ]


@cache
def html() -> str:
    return made.page(POOLS, VOLUMES, 1440).html


@cache
def elements() -> Elements:
    return Elements(html())


@cache
def data() -> dict[str, object]:
    (text,) = [text for attrs, text in elements().of("script") if attrs.get("id") == "data"]
    found: dict[str, object] = json.loads(text)
    return found


@pytest.mark.long
def test_every_element_is_closed_in_its_order() -> None:
    assert not elements().open


def test_nothing_on_the_page_has_an_address_elsewhere() -> None:
    for _, attrs, _ in elements().found:
        for name in ("src", "href", "action", "srcset", "poster", "data"):
            assert attrs.get(name, "#").startswith(("#", "data:")), (name, attrs)
    style, script = (text for text in (elements().of("style")[0][1], elements().of("script")[1][1]))
    assert not re.search(r"url\(|@import|https?:", style)
    assert not re.search(r"fetch|XMLHttp|WebSocket|import\(|https?:|eval|innerHTML", script)


def test_only_the_style_and_the_script_of_the_page_may_run() -> None:
    (policy,) = [
        a["content"] for a, _ in elements().of("meta") if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    for kind, text in (("style", elements().of("style")[0][1]), ("script", elements().of("script")[1][1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    for _, attrs, _ in elements().found:
        assert not [name for name in attrs if name == "style" or name.startswith("on")], attrs


def test_what_others_wrote_is_text() -> None:
    """The name of a pool, a remark, a label, the title and the command try to end a script and to load an image."""
    assert [name for name, _, _ in elements().found].count("script") == 2
    assert not elements().of("img")
    assert any(HOSTILE in text for _, text in elements().of("a"))
    assert any(HOSTILE in text for _, text in elements().of("li"))
    assert HOSTILE in elements().of("h1")[0][1]
    assert HOSTILE in elements().of("title")[0][1]
    assert HOSTILE in elements().of("code")[0][1]


@pytest.mark.parametrize(
    "text", [HOSTILE, "<!--<script>", "]]>", "\u2028\u2029", "&lt;", "\\u003c", "\x00é\U0001f600"]
)
def test_embedded_data_ends_no_element_and_reads_back(text: str) -> None:
    found = str(embedded({"text": text, text: [1.5, float("inf"), None]}))
    assert not set(found) & set("<>&\u2028\u2029")
    assert json.loads(found) == {"text": text, text: [1.5, None, None]}


def test_embedded_data_are_those_of_json_and_csv() -> None:
    found = made.site(POOLS)
    assert data()["answers"] == [json.loads(render.to_json(found.to_dict()))]
    tables = data()["csv"]
    assert isinstance(tables, dict)
    assert tables["pools.csv"] == render.to_csv(found.table())
    rows = list(csv.DictReader(io.StringIO(tables["volumes.csv"])))
    assert len(rows) == POOLS * VOLUMES
    assert {row["device"] for row in rows} == {f"{0x1000 + k:04X}" for k in range(POOLS * VOLUMES)}
    buttons = {attrs["data-save"] for attrs, _ in elements().of("button") if "data-save" in attrs}
    assert buttons == {"report.json", *tables}


def test_ids_are_unique_and_references_lead_somewhere() -> None:
    ids = [attrs["id"] for _, attrs, _ in elements().found if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs, _ in elements().found:
        for name in ("aria-labelledby", "for", "list"):
            for each in attrs.get(name, "").split():
                assert each in ids, (name, attrs)
        if attrs.get("href", "").startswith("#"):
            assert attrs["href"][1:] in ids


def test_tables_pictures_and_controls_say_what_they_are() -> None:
    """What a screen reader needs: captions, scopes, names of pictures and of controls, the language, a way past."""
    inside = [
        (name, attrs, above)
        for name, attrs, above in elements().found
        if "thead" in above or "tbody" in above
    ]
    assert all(attrs.get("scope") in {"col", "row"} for name, attrs, _ in inside if name == "th")
    assert len(elements().of("caption")) == len(elements().of("table"))
    assert all(text.strip() for _, text in elements().of("caption"))
    for attrs, text in elements().of("svg"):
        assert attrs["role"] == "img"
        assert text.strip()
    labels = sum("label" in above for name, _, above in elements().found if name in {"input", "select"})
    named = sum(
        attrs.get("id", "") in {a.get("for") for a, _ in elements().of("label")}
        for attrs, _ in elements().of("input")
    )
    assert labels + named == len(elements().of("input")) + len(elements().of("select"))
    assert elements().of("html")[0][0]["lang"] == "en"
    assert elements().of("a")[0][0]["href"] == "#main"
    regions = [attrs for attrs, _ in elements().of("div") if attrs.get("class") == "scroll"]
    assert all(attrs["tabindex"] == "0" and attrs["role"] == "region" for attrs in regions)


def test_sortable_columns_have_buttons_and_say_how_they_are_sorted() -> None:
    for name, attrs, above in elements().found:
        if name == "th" and "thead" in above and "aria-sort" in attrs:
            assert attrs["aria-sort"] == "none"
    heads = [attrs for name, attrs, above in elements().found if name == "th" and "aria-sort" in attrs]
    buttons = [1 for name, _, above in elements().found if name == "button" and above[-1] == "th"]
    assert len(heads) == len(buttons) > 10


def test_headings_go_down_one_step_at_a_time() -> None:
    levels = [int(name[1]) for name, _, _ in elements().found if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_tiles_are_sums_of_the_table() -> None:
    """The reference is counted from the answer by hand."""
    found = made.site(POOLS)
    part = part_of(found, "p0")
    values = {tile.label: tile.value for tile in part.tiles}
    verdicts = [each.verdict for each in found.pools]
    assert values["pools short"] == str(verdicts.count("short"))
    assert values["spare"] == str(verdicts.count("too many"))
    assert values["in use"] == str(sum(each.in_use for each in found.pools))
    assert {row.verdict for row in part.grids[0].rows} == set(map(word, verdicts))


def test_growth_is_answered_beforehand_and_moves_every_count() -> None:
    found = made.site(POOLS)
    part = part_of(found, "p0", grown=[(0.5, made.grown(found, 0.5))])
    first, later = part.growth
    assert (first.share, later.share) == (0.0, 0.5)
    for each in found.pools:
        assert first.counts[each.name]["recommended"] == str(each.needed)
        assert later.counts[each.name]["recommended"] == str((each.needed or 0) + 5)
    assert int(later.tiles["needed"]) == int(first.tiles["needed"]) + 5 * POOLS
    assert next(iter(later.counts.values()))["verdict"] in {SHORT, SPARE, "enough"}


def test_the_verdict_after_growth_is_that_of_the_site() -> None:
    """At no growth both say the same, pool by pool."""
    found = made.site(POOLS)
    (first,) = part_of(found, "p0", grown=[(0.2, made.grown(found, 0.2))]).growth[:1]
    assert {each.name: word(each.verdict) for each in found.pools} == {
        name: texts["verdict"] for name, texts in first.counts.items()
    }


def test_rows_that_could_not_be_read_lead_the_first_line_at_every_growth() -> None:
    """The script shows the line of each step, that of today among them: the warning was gone once it ran."""
    found = replace(made.site(POOLS), gaps={"LCU000": Gaps(volumes=("VM1/0100",), of=65)})
    assert "1 of 65 volumes" in found.lacking
    steps = part_of(found, "p0", grown=[(0.5, made.grown(found, 0.5))]).growth
    assert all(each.headline.startswith(found.lacking) for each in steps)


def test_where_counters_decide_today_the_line_after_growth_says_that_it_is_by_averages() -> None:
    """A pool with enough by its counters was short by eight at a tenth more load, without a word why."""
    found = made.site(2)
    decided = replace(found, pools=(replace(found.pools[0], counters=object()), *found.pools[1:]))  # type: ignore[arg-type]
    today, later = part_of(decided, "p0", grown=[(0.5, made.grown(found, 0.5))]).growth
    assert "by the averages" not in today.headline
    assert later.headline.endswith(
        f"{found.pools[0].name}: by the averages, not by the supply counters that decide today."
    )


def test_all_that_stays_as_measured_is_dimmed_after_growth() -> None:
    """Notes hold counts of today, as "4 to add in 2 pools"."""
    assert '<ul class="notes still">' in made.page(2, 2, 96).html


def test_the_verdict_counts_the_intervals_of_a_pool_not_those_of_all() -> None:
    """Three pools over a year of 355 hours were 1,062 measured intervals."""
    assert "from 96 measured intervals of each in 99 % of the busy time" in how_sure(made.site(3, 96))


def test_the_same_answer_gives_the_same_page() -> None:
    assert made.page(2, 2, 96).html == made.page(2, 2, 96).html


def test_a_site_without_pools_in_full_still_has_its_table() -> None:
    answer: SiteAnswer = replace(made.site(2, 96), device_model=None)
    page = report_of([part_of(answer, "p0")], [answer], command="", sources=[])
    assert "P&lt;/script&gt;" in page.html
    assert page.exit_code == 1


def test_numbers_are_sorted_as_numbers() -> None:
    table = render.Table(
        columns=(
            render.Column(name="pool", unit="", values=["a", "b", "c"]),
            render.Column(name="wait", unit="ms", values=[9.0, float("inf"), None]),
        )
    )
    laid_out = grid(table, "g", limits={"wait": 9.5})
    assert [row.cells[1].order for row in laid_out.rows] == [9.0, float("inf"), None]
    assert [row.cells[1].over for row in laid_out.rows] == [False, True, False]
    assert laid_out.legend == "wait above 9.5 ms"
    assert [row.cells[0].order for row in laid_out.rows] == [None] * 3


@pytest.mark.parametrize(
    ("text", "shares"), [("10%,50%", (0.1, 0.5)), ("50%, 10%,10%", (0.1, 0.5)), ("0", ()), ("", ())]
)
def test_growths_are_read_in_order(text: str, shares: tuple[float, ...]) -> None:
    assert growths(text) == pytest.approx(shares)


def test_digests_are_those_of_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    (folder / "devices").mkdir(parents=True)
    (folder / "devices" / "b.parquet").write_bytes(b"bee")
    (folder / "a.toml").write_bytes(b"ay")
    one, all_ = inputs([folder / "a.toml", folder])
    assert (one.digest, one.size) == (hashlib.sha256(b"ay").hexdigest(), 2)
    lines = "".join(
        f"{hashlib.sha256(text).hexdigest()}  {name}\n"
        for name, text in (("a.toml", b"ay"), ("devices/b.parquet", b"bee"))
    )
    assert (all_.digest, all_.size, all_.files) == (hashlib.sha256(lines.encode()).hexdigest(), 5, 2)


@pytest.mark.long
def test_the_kept_accuracy_is_that_of_the_scoreboard() -> None:
    """`python -m tests.page.accuracy` writes it again."""
    assert ACCURACY.read_text(encoding="utf-8") == accuracy.summary()


@pytest.mark.parametrize(("intervals", "drawn"), [(9, 0), (10, 2)])
def test_fewer_than_ten_intervals_have_no_chart_over_time(intervals: int, drawn: int) -> None:
    part = part_of(made.site(2, intervals), "p0")
    assert [len(item.figures) for item in part.items] == [drawn, drawn]
