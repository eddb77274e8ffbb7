"""XML of the RMF postprocessor: what was printed is read, sums are held, what is no such file is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import planner
from planner.errors import ReportError
from planner.measurements import read
from planner.measurements.collect import collect
from planner.measurements.read import MOST_IN_USE
from planner.reports import rmf
from planner.site.question import site
from tests.reports.exports import START, rmf_spreadsheet, volumes
from tests.reports.exports import rmf_xml as printed


def test_rows_are_those_of_the_report_and_add_up_to_its_sums() -> None:
    rows = volumes(Random(5), 9, 3)
    found = read(printed(rows).encode())
    frame = found.devices
    assert frame.height == 27 and found.missing == ()
    for row, v in zip(frame.rows(named=True), rows, strict=True):
        assert (row["system"], row["device"], row["label"], row["pool"]) == (
            "SYSA",
            v.device,
            v.label,
            "0045",
        )
        assert (row["start"], row["interval"], row["kind"]) == (v.start, 900.0, "volume")
        assert row["io_rate"] == v.rate and row["pool_aliases"] == 6
        for name, value in (("service", v.service), ("response", v.response), ("pend", v.pend)):
            assert row[name] == pytest.approx(value / 1000, abs=1e-12)
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
        assert row["queued"] == pytest.approx(v.rate * v.iosq / 1000)
    total = sum(v.rate for v in rows if v.start == START)
    first = found.supply.row(0, named=True)
    assert first["pool"] == "0045" and first["tries"] == round(total * 900) and first["most_used"] == 6
    assert first["fails"] == round(0.012 * first["tries"])


def test_a_device_without_numbers_is_offline_and_one_with_some_is_missing() -> None:
    rows = volumes(Random(2), 4)
    text = printed(rows, offline=3, ioq=False)
    whole = read(text.encode())
    assert any("offline" in note and "08B00" in note for note in whole.notes) and whole.missing == ()
    lost = text.replace(f"<col>{rows[1].rate:.3f}</col>", "<col/>", 1)
    found = read(lost.encode())
    assert [each.name for each in found.missing] == [rows[1].device]
    assert found.devices.height == 3


def test_a_sum_that_its_rows_do_not_reach_says_that_some_are_missing() -> None:
    rows = volumes(Random(3), 4)
    text = printed(rows, ioq=False)
    lines = text.splitlines(keepends=True)
    cut = "".join(line for line in lines if rows[0].label not in line)
    found = read(cut.encode())
    assert [(each.name, each.pool) for each in found.missing] == [(None, "0045")]
    assert any("rows are missing" in note for note in found.notes)


def test_documents_one_behind_the_other_and_other_reports() -> None:
    rows = volumes(Random(4), 3, 2)
    one = printed(rows[:3], ioq=False)
    other = printed(rows[3:], ioq=False).replace(
        "</ddsml>", '<postprocessor><metric id="CACHE"/></postprocessor></ddsml>'
    )
    found = read((one + other).encode())
    assert found.devices.height == 6
    assert any("nothing is taken from the reports CACHE" in note for note in found.notes)
    assert any("does not say how many aliases" in note for note in found.notes)


def test_pools_of_two_systems_have_the_aliases_of_their_own_system() -> None:
    rows = volumes(Random(4), 3)
    found = read((printed(rows, most=6) + printed(rows, most=2).replace("SYSA", "SYSB")).encode())
    for frame, name in ((found.supply, "aliases"), (found.devices, "pool_aliases")):
        assert dict(frame.select("system", name).unique().rows()) == {"SYSA": 6, "SYSB": 2}


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.parametrize("files", ["apart", "days", "days, last first"])
def test_aliases_are_the_most_in_use_of_all_files_as_of_one(tmp_path: Path, files: str) -> None:
    """A quiet day does not take aliases away, reports may stand in files of their own, and an archive says the same."""
    rows = volumes(Random(4), 3, 2)
    days = [printed(rows[:3], most=5), printed(rows[3:], most=1, wait=0.3)]
    reports = re.findall(r"<postprocessor>.*?</postprocessor>", "".join(days), re.DOTALL)
    apart = [f"<ddsml>{''.join(reports[k::2])}</ddsml>" for k in (0, 1)]
    whole = read("".join(days).encode())
    assert any("give the IOQ" in note for text in apart for note in read(text.encode()).notes)
    paths = [tmp_path / f"{k}.xml" for k in range(2)]
    for path, text in zip(paths, {"apart": apart, "days": days}.get(files, days[::-1]), strict=True):
        path.write_text(text)
    found = read(paths)
    assert set(found.devices["pool_aliases"]) == set(found.supply["aliases"]) == {5}
    assert MOST_IN_USE in found.notes and not [note for note in found.notes if "give the IOQ" in note]
    archive = tmp_path / "archive"
    for path in paths:
        collect([path], archive)
    asked = [site(source, workers=1).to_dict()["pools"] for source in (whole, paths, archive)]
    assert asked[0] == asked[1] == asked[2]
    shared = tmp_path / "shared.csv"
    shared.write_text("system,pool,ssid\nSYSA,0045,A0\nSYSB,0045,A0\n")
    paths[0].write_text("".join(days).replace("SYSA", "SYSB"))
    collect([paths[0]], archive)
    assert [each.in_use for each in site(archive, members=shared, workers=1).pools] == [5]


@pytest.mark.long
def test_a_volume_with_static_pav_has_aliases_of_its_own_and_no_pool() -> None:
    """PAV counts the base too; H is HyperPAV, 1 has no aliases. Sums of the control unit still hold all volumes."""
    text = printed(volumes(Random(4), 4))
    for k, pav in enumerate(("4", "2*", "1")):
        text = text.replace(f"<col>PROD0{k}</col><col>1.3H", f"<col>PROD0{k}</col><col>{pav}")
    found = read(text.replace("\n", " ").encode())  # all in one line
    own = [(None, 3), (None, 1), ("0045", 6), ("0045", 6)]
    assert found.devices.select("pool", "pool_aliases").rows() == own and found.missing == ()
    assert [note for note in found.notes if "PAV 2*: the number of aliases changed" in note]
    answer = planner.aliases(text.encode(), kind="volume", wait="2ms").to_dict()
    assert {row["device"]: row["in_use"] for row in answer["volumes"]} == {"8A00": 3, "8A01": 1}
    table = rmf_spreadsheet(volumes(Random(4), 4)).replace("33909,1.0H", "33909,4", 1)
    by_table = read(table.replace("33909,1.0H", "33909,2*", 1).encode())
    own[2:] = [("0045", None)] * 2
    assert by_table.devices.select("pool", "pool_aliases").rows() == own
    assert [note for note in by_table.notes if "PAV 2*: the number of aliases changed" in note]
    alone = read(printed(volumes(Random(4), 1), ioq=False).replace("1.3H", "4").encode())
    assert not any("how many aliases a pool has" in note for note in alone.notes)


@pytest.mark.long
def test_channels_and_cache_of_the_same_file_are_named_in_the_answer() -> None:
    """The worst of each, with its place; a sum, and what is no number, is none."""

    def table(metric: str, headings: Sequence[str], *rows: Sequence[str]) -> str:
        cells = "".join(f"<row>{''.join(f'<col>{cell}</col>' for cell in row)}</row>\n" for row in rows)
        head = "".join(f"<col>{name}</col>" for name in headings)
        return (f'<postprocessor><metric id="{metric}"/><segment><part><table><column-headers>{head}</column-headers>\n'
                f"{cells}</table></part></segment></postprocessor>")  # fmt: skip

    channels = table("CHAN", ("ID", "Utilization(%) Part", "Utilization(%) Total"),
                     ("5C", "30.1", "31.5"), ("5D", "11", "88.0"), ("5E", "", "----"))  # fmt: skip
    cache = table(
        "CACHE", ("SSID", "I/O Rate", "Read H/R"), ("0045", "99.0", "0.912"), ("0046", "1.0", "0.730")
    )
    text = printed(volumes(Random(4), 1)).replace("</ddsml>", f"{channels}\n{cache}</ddsml>")
    lines = text.splitlines()
    at = [1 + next(k for k, line in enumerate(lines) if cell in line) for cell in ("88.0", "0.730")]
    wanted = [f"bytes, line {at[0]}: the busiest channel path: 5D, Utilization(%) Total 88.",
              f"bytes, line {at[1]}: the lowest share of reads in the cache: 0046, Read H/R 0.73."]  # fmt: skip
    assert [note for note in read(text.encode()).notes if "channel path" in note or "cache" in note] == wanted
    assert not any("nothing is taken" in note for note in read(text.encode()).notes)
    assert all(note in planner.aliases(text.encode(), wait="2ms").to_dict()["notes"] for note in wanted)


def test_intervals_stay_apart_where_day_and_month_may_change_places() -> None:
    """British dates: a day above 12 anywhere in the file says which is which; else none is known, and none is added."""
    british = printed(volumes(Random(5), 3, 2)).replace("en-us", "en-gb")
    whole = read(british.replace("05/14/2024", "14/05/2024").encode())
    assert whole.devices["start"][0] == START and whole.supply["start"][0] == START
    found = read(british.replace("05/14/2024", "05/06/2024").encode())
    assert found.devices["start"].null_count() == 6 and found.devices["source"].n_unique() == 2
    assert found.supply["tries"].to_list() == whole.supply["tries"].to_list()
    assert not any("'' (start)" in note for note in found.notes)


def test_the_code_that_a_text_was_made_of_is_ignored() -> None:
    text = printed(volumes(Random(5), 3)).replace("UTF-8", "IBM-1047", 1)
    assert "IBM-1047" in text
    assert read(text.encode()).devices.height == read(text.encode("utf-16")).devices.height == 3
    with pytest.raises(ReportError, match="unknown encoding"):
        read(text.encode().replace(b"PROD00", b"PR\xd600"))


HEAD = '<?xml version="1.0"?>'
BAD = {
    "an entity": (f'{HEAD}<!DOCTYPE ddsml [<!ENTITY a "b">]><ddsml>&a;</ddsml>', "document type declaration"),
    "an external entity": (f'{HEAD}<!DOCTYPE ddsml SYSTEM "file:///etc/passwd"><ddsml/>', "document type declaration"),
    "too deep": (HEAD + "<ddsml>" * 40 + "</ddsml>" * 40, "more than 32 elements within each other"),
    "a long text": (f"{HEAD}<ddsml><postprocessor><a>{'x' * 5000}</a></postprocessor></ddsml>", "more than 4096"),
    "cut off": (f"{HEAD}<ddsml><postprocessor>", "no whole XML .no element found"),
    "no devices": (f'{HEAD}<ddsml><postprocessor><metric id="CPU"/></postprocessor></ddsml>', "reports CPU without"),
    "nothing": (f"{HEAD}<ddsml/>", "RMF reports none without"),
    "a short row": (
        f"{HEAD}<ddsml><postprocessor><metric id='DEVICE'/><table><column-headers><col>a</col><col>b</col>"
        "</column-headers><row><col>1</col></row></table></postprocessor></ddsml>", "1 cell: expected 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_such_file_is_refused(case: str) -> None:
    text, problem = BAD[case]
    with pytest.raises(ReportError, match=problem) as caught:
        read(text.encode())
    assert str(caught.value).count("expected") == 1


def test_a_file_larger_than_any_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rmf, "MOST_BYTES", 100)
    with pytest.raises(ReportError, match="expected at most"):
        read(printed(volumes(Random(1), 2)).encode())
