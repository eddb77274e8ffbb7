"""The report on real storage: gain of a release, storage for PGMBKs, and scaling with processors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from planner import library, style
from planner.advice.configurations import published
from planner.advice.processors import Scaling, scaling
from planner.calibrate.costs import fit_processors
from planner.devices.storage import FRAMES_PER_PGMBK, PAGES_PER_PTRM_SPACE
from planner.interval import Interval
from planner.published import report
from planner.published.report import Cell, PublishedFigure, PublishedReport, Rule, Said
from planner.reports import PublishedTable
from planner.reports.dspacesh import PAGES, RATES, DataSpace, read_data_spaces
from planner.units import FRAME, GIB, MILLISECOND, PERCENT

FOLDER: Final = "real-storage"
RELEASE: Final = "5.3"
GAIN: Final = Said("not modelled", note="the gain of a release was measured, not modeled")
# Configuration: runs of 5.2 and 5.3.
PAIRS: Final = {"3": ("APT064G1", "APU064G1"), "4": ("APT128G0", "APU128G0")}
SPLIT: Final = {"3": "split-5.2", "4": "split-5.2"}
RATIOS: Final = {
    "Processor Ratio": "Processors", "Real Storage Ratio": "Real Storage (GB)", "ITR Ratio": "ITR (p)",
    "Total CPU/Tx Ratio": "Total CPU/Tx (p)", "Emul CPU/Tx Ratio": "Emul CPU/Tx (p)",
    "CP CPU/Tx Ratio": "CP CPU/Tx (p)",
}  # fmt: skip
CONFIGURATION: Final = ("Real Storage (GB)", "Expanded Storage (GB)", "Processors", "Client Guests", "Server Guests",
                        "AWM Sample Size")  # fmt: skip


def models() -> dict[str, library.Model]:
    """Fit the Universal Scalability Law to the five configurations of Table 4."""
    found = report.table(FOLDER, "table-4")
    machine = report.table(FOLDER, "table-1").text("Processor Type/Model", "4")
    model = report.published_model(
        fit_processors([each.run for each in published(RELEASE)]),
        title=f"{library.read_source(FOLDER)['title']}: Apache on z/VM {RELEASE}",
        tables=[found],
        environment={"machine": machine, "release": f"z/VM {RELEASE}", "channel": "not stated"},
    )
    return {"processors": model}


def cells() -> Iterator[PublishedFigure]:
    """Figures of the four tables and three listings."""
    yield from report.table_figures(FOLDER, "table-1", _gains())
    yield from report.table_figures(FOLDER, "table-2", _capacity())
    yield from report.table_figures(FOLDER, "table-3", _scaling_rows("5.2"))
    yield from report.table_figures(FOLDER, "table-4", _scaling_rows("5.3"))
    for entry in library.read_source(FOLDER)["listing"]:
        yield from _listing(entry["file"], entry["users"])


@cache
def _table(number: int) -> PublishedTable:
    return report.table(FOLDER, f"table-{number}")


def _gains() -> dict[str, Rule]:
    """Rules of the table of gains; its configurations 3 and 4 are runs of Tables 3 and 4, the others only here."""
    config = ("Real Storage", "Expanded Storage", "Processors", "Apache Server Virtual Size", "Apache Files",
              "Apache File Size")  # fmt: skip

    def paired(rule: Rule, otherwise: Said = GAIN) -> Rule:
        return lambda at: rule(at) if at.column in PAIRS else otherwise

    def change(row: str, errata: Mapping[str, str] | None = None) -> Rule:
        def follows(at: Cell) -> Interval:
            before, after = PAIRS[at.column]
            ratio = report.cell(_table(4), row, after) / report.cell(_table(3), row, before)
            return (ratio - 1.0) * (1 / PERCENT)

        return paired(report.identity(follows, "Table 4 over Table 3, same runs", errata))

    pageins = report.identity(
        lambda at: report.cell(_table(3), "Pageins/CPU-sec (p)", PAIRS[at.column][0]), "Table 3, same run"
    )
    return {
        **dict.fromkeys(config, report.given()),
        "Contention (z/VM 5.2 Pageins/CPU-sec)": paired(
            pageins, otherwise=Said("input", note="how the workload was set up")
        ),
        "Throughput": change("Tx/sec (p)", {"4": "throughput-21.6"}),
        "Total CPU/tx": change("Total CPU/Tx (p)"),
        "Virtual CPU/tx": change("Emul CPU/Tx (p)", SPLIT),
        "CP CPU/tx": change("CP CPU/Tx (p)", SPLIT),
    }


def _capacity() -> dict[str, Rule]:
    """Rules for one touched page per segment: a PGMBK of two frames per segment, PTRM spaces of 4 GB."""
    users, per_user, touched = "Segment Thrasher Users", "Pages Touched/User", "Total User Pages Touched"
    gigabytes = FRAME / GIB

    def total(at: Cell) -> Interval:
        return _exact(at, users) * _exact(at, per_user)

    def pgmbks(at: Cell) -> Interval:
        return total(at) * FRAMES_PER_PGMBK

    def spaces(at: Cell) -> Interval:
        return report.known(float(-(-pgmbks(at).value // PAGES_PER_PTRM_SPACE)))

    def thousands(at: Cell, value: Interval) -> Interval:
        """Widen a printed sum of numbers that were each rounded to a thousand."""
        half = 500.0 * spaces(at).value
        return Interval(value.low - half, value.value, value.high + half)

    real = "resident-16216k"
    return {
        "z/VM Release": report.given(),
        users: report.given("how the run was set up"),
        per_user: report.given("how the run was set up"),
        touched: report.identity(total, "users x pages touched"),
        "Total GB Virtual Touched": report.identity(lambda at: total(at) * (1 / 1024), "1 MB per page"),
        "PTRM Data Spaces": report.identity(spaces, "PGMBKs over PTRM spaces of 4 GB, rounded up"),
        "PTRM Total pages (p)": report.identity(
            lambda at: thousands(at, spaces(at) * PAGES_PER_PTRM_SPACE), "1,048,576 pages per space"
        ),
        "PTRM Resid pages (p)": report.identity(
            lambda at: thousands(at, pgmbks(at)), "two frames per segment", {"STMU5180": real}
        ),
        "PTRM <2G Resid pages (p)": _below_2gb,
        "PTRM GB Real Storage Used": report.identity(
            lambda at: pgmbks(at) * gigabytes, "two frames per segment", {"ST4TA190": "ptrm-2.0"}
        ),
        "User GB Real Storage Used": report.identity(lambda at: total(at) * gigabytes, "a page per segment"),
        "Total GB Real Stg Used": report.identity(
            lambda at: (pgmbks(at) + total(at)) * gigabytes, "PTRM + user", {"ST4TA190": "total-3.0"}
        ),
    }


def _exact(at: Cell, row: str) -> Interval:
    return report.known(at[row].value)


def _below_2gb(at: Cell) -> Said:
    if at.value.value == 0:
        return Said("input", note="zero: 5.3 needs none below 2 GB")
    return Said("identity", at["PTRM Resid pages (p)"], note="5.2 keeps all of them below 2 GB")


def _scaling_rows(release: str) -> Mapping[str, Rule]:
    base = _table(3 if release == "5.2" else 4).columns[2]
    utilization = "Total CPU Util/Proc (p)"

    def busy(at: Cell) -> Interval:
        return at[utilization] * PERCENT

    def transactions(at: Cell) -> Interval:
        return _exact(at, "Processors") * busy(at) / (at["Total CPU/Tx (p)"] * MILLISECOND)

    def ratio(row: str) -> Rule:
        known = {"APT128G0": "ratio-1.067"} if row == "Total CPU/Tx Ratio" and release == "5.2" else {}
        exact = row in ("Processor Ratio", "Real Storage Ratio")
        take = _exact if exact else Cell.__getitem__
        return report.identity(
            lambda at: take(at, RATIOS[row]) / take(Cell(table=at.table, row=at.row, column=base), RATIOS[row]),
            "over the first run", known,
        )  # fmt: skip

    rows: dict[str, Rule] = {
        **dict.fromkeys(CONFIGURATION, report.given()),
        "Tx/sec (p)": report.identity(transactions, "processors x utilization / CPU time"),
        utilization: report.not_modelled("how much load the clients offered"),
        "ITR (p)": report.identity(lambda at: at["Tx/sec (p)"] / busy(at), "Tx/sec over utilization"),
        "ITR Ratio; base = 530 64G": report.identity(
            lambda at: at["ITR (p)"] / report.cell(_table(4), "ITR (p)", "APU064G1"), "over 64 GB on 5.3"
        ),
        "Total CPU/Tx (p)": report.identity(
            lambda at: at["Emul CPU/Tx (p)"] + at["CP CPU/Tx (p)"], "Emul + CP"
        ),
        "Emul CPU/Tx (p)": report.given("measured; see its errata"),
        "CP CPU/Tx (p)": report.given("measured; see its errata"),
        "Pageins/CPU-sec (p)": report.not_modelled("page reads of a cache that the report does not describe"),
        **{row: ratio(row) for row in RATIOS},
    }
    if release == "5.3":
        rows |= {
            "ITR (p)": _left_out_itr,
            "Total CPU/Tx (p)": lambda at: report.fitted("processors", at.column, "processors"),
            "Emul CPU/Tx (p)": report.identity(
                lambda at: at["Total CPU/Tx (p)"] - at["CP CPU/Tx (p)"], "Total - CP"
            ),
            "CP CPU/Tx (p)": report.not_modelled("how CPU time divides between guests and CP"),
        }
    return rows


@cache
def _scaling() -> Scaling:
    return scaling(published("5.3"))


def _left_out_itr(at: Cell) -> Said:
    """ITR of a configuration, predicted from the other four."""
    counts = [each.processors for each in _scaling().configurations]
    place = counts.index(int(at["Processors"].value))
    return Said("left-out", report.known(float(_scaling().left_out[place].value)), "processors",
        note="scaling of the other four configurations")  # fmt: skip


def _listing(file: str, users: int) -> Iterator[PublishedFigure]:
    """Figures of the DSPACESH rows: sizes of PTRM spaces, and columns of zeros."""
    (listing,) = read_data_spaces(library.data_path(FOLDER, file))
    name = f"DSPACESH {file.removesuffix('.listing')}"
    per_user = report.cell(_table(2), "Pages Touched/User", "ST4TA190").value
    alone = len(listing.rows) == 1
    for space in listing.rows:
        each = users * per_user * FRAMES_PER_PGMBK if alone else None
        cells = [("Users", report.known(float(space.users or 0)), Said("input", note="column of zeros"))]
        cells += [(column, report.printed(getattr(space, field)), _space(space, field, each))
                  for field, column in (RATES | PAGES).items()]  # fmt: skip
        yield from report.row_figures(FOLDER, name, space.name, cells)


def _space(space: DataSpace, field: str, pgmbks: float | None) -> Said:
    number = getattr(space, field)
    full = report.known(float(PAGES_PER_PTRM_SPACE))
    if number.value == 0:
        return Said("input", note="column of zeros")
    if field == "total":
        half = report.printed(number).value < PAGES_PER_PTRM_SPACE / 2 + 1
        return Said("identity", full, erratum="total-524k" if half else "", note="a space of 4 GB")
    if field == "resident_below_2gb":
        if space.resident is None:
            return Said("not modelled", note="no resident pages")
        return Said("identity", report.printed(space.resident), note="5.2 keeps all of them below 2 GB")
    if pgmbks is not None:
        return Said("identity", report.known(pgmbks), note="two frames per segment")
    fills = Said("not modelled", note="which space CP fills first")
    return (
        Said("identity", full, note="a full space") if report.meets(report.printed(number), full) else fills
    )


def scaling_over_storage() -> style.Axes:
    """Figure 1 (530stgf1): ITR ratios of z/VM 5.2 and 5.3 and processor ratio over real storage."""
    older, newer = (_table(number) for number in (3, 4))
    curves = (
        (newer, "Processor Ratio", "processors", "--", "^"),
        (newer, "ITR Ratio", "ITR, z/VM 5.3", "-", "o"),
        (older, "ITR Ratio; base = 530 64G", "ITR, z/VM 5.2", "-", "s"),
    )
    (axes,) = style.begin(
        None, "The throughput of z/VM 5.3 follows the processors up to 160 GB. Above that it falls behind."
    )
    named = []
    for color, (of, row, label, line, marker) in zip(style.COLORS, curves, strict=False):
        runs = of.columns[2:]
        ratios = [of.value(row, run) for run in runs]
        axes.plot(
            [of.value("Real Storage (GB)", run) for run in runs], ratios, line, marker=marker, color=color
        )
        if of is newer:
            named.append((ratios[-1], label, color))
        else:
            style.name_point(axes, label, (of.value("Real Storage (GB)", runs[-1]), ratios[-1]), color)
    axes.set(
        xlabel="real storage [GB]", ylabel="ratio to z/VM 5.3 in 64 GB", xlim=(0, None), ylim=(0, None),
    )  # fmt: skip
    style.name_lines(axes, named)
    return axes


REPORT: Final = PublishedReport(
    folder=FOLDER,
    cells=cells,
    models=models,
    figures={"530stgf1": scaling_over_storage},
    pictures={"real-storage": lambda: scaling(published(), counts=[16]).plot()},
)
