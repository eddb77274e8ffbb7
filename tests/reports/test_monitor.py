"""z/VM monitor data against a simulated system whose counters are known: no real file could be had.

Expected values come from the simulation, whose numbers have any size, and from the arithmetic of the published reports;
the files come from a writer with its own list of fields.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from planner.errors import ReportError
from planner.reports import schema
from planner.reports.monitor import layouts, reader
from planner.reports.monitor.reader import MonitorTables, batches
from planner.reports.monitor.records import is_capture, is_monwrite
from planner.reports.monitor.state import RecordedSystem, SampleSpan, moment
from tests.checkout import ROOT
from tests.reports.monitor_site import ALIAS_BIT, BASE_BIT, TIMES, UNIT, Site, example, read_monitor, written
from tests.reports.monitor_writer import PRINTED, Run, capture, layout, monwrite, records, rows


def read(tmp_path: Path, content: bytes, **options: bool) -> MonitorTables:
    path = tmp_path / "MONDATA"
    path.write_bytes(content)
    return read_monitor(path, **options)


def refuse(tmp_path: Path, content: bytes, match: str) -> None:
    with pytest.raises(ReportError, match=match):
        read(tmp_path, content)


def last(frame: pl.DataFrame | None) -> pl.DataFrame:
    assert frame is not None
    return frame.filter(pl.col("start") == pl.col("start").max())


def check_last(site: Site, found: MonitorTables, seconds: float = 60.0) -> None:
    """Rates and times of the last interval are those of the simulated work."""
    frame = last(found.devices)
    rise = {name: each[site.alive] for name, each in site.rise.items() if each.shape == site.alive.shape}
    ios = rise["SSCH"] + rise["PAVSSCH"]
    np.testing.assert_allclose(frame["io_rate"], ios / seconds, rtol=1e-12)
    np.testing.assert_allclose(frame["alias_rate"], rise["PAVSSCH"] / seconds, rtol=1e-12)
    for part, name in (
        ("pend", "FPTIM"),
        ("connect", "CNTIM"),
        ("disconnect", "DDTIM"),
        ("cu_wait", "CQTIM"),
    ):
        base = rise[name] * UNIT / np.maximum(rise["COUNT"], 1)
        alias = rise[f"PAV{name}"] * UNIT / np.maximum(rise["PAVCOUNT"], 1)
        mixed = (rise["SSCH"] * base + rise["PAVSSCH"] * alias) / ios
        np.testing.assert_allclose(frame[part], mixed, rtol=1e-9)
        assert (frame[f"{part}_low"] <= frame[part]).all() and (frame[f"{part}_high"] > frame[part]).all()
    queued = rise["HFCTIO"] / rise["HFRDEVCT"]
    np.testing.assert_allclose(frame["queued"], queued, rtol=1e-12)
    assert (frame["queue_samples"].to_numpy() == rise["HFRDEVCT"]).all()
    np.testing.assert_allclose(frame["response"], frame["service"] + queued / (ios / seconds), rtol=1e-9)


def test_writer_and_reader_agree_on_every_offset_and_printed_length() -> None:
    for record, length in PRINTED.items():
        assert layout(record).itemsize == length
    for kind, (_, wanted) in layouts.LAYOUTS.items():
        fields = layout((kind >> 16, kind & 0xFFFF)).fields or {}
        for name, (offset, _) in wanted.items():
            assert name == "RDEVSER2" or fields[name][1] == offset
    moved = layouts.dtype(layouts.Kind.ACTIVITY, 4).fields or {}
    aligned = layout((6, 3), aligned=True)
    assert aligned.itemsize == 264
    assert all(name == "RDEVSER2" or (aligned.fields or {})[name][1] == moved[name][1] for name in moved)


@pytest.mark.parametrize("form", [monwrite, capture])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("more", [0, 24])
def test_a_simulated_day_is_read_as_it_was(tmp_path: Path, form: object, aligned: bool, more: int) -> None:
    site = Site(aligned=aligned, more=more)
    found = read(tmp_path, form(site.sets(4)))  # type: ignore[operator]
    assert found.notes == ()
    assert found.devices is not None and found.devices.height == 3 * site.devices.size
    assert list(found.devices.columns) == [column.key for column in schema.DEVICES]
    check_last(site, found)


def test_names_times_roles_and_pools(tmp_path: Path) -> None:
    site = Site(zone=-18000)
    frame = last(read(tmp_path, written(site)).devices)
    first = frame.row(0, named=True)
    assert first["system"] == "MVSYS1" and first["device"] == "5200" and first["label"] == "VL5200"
    assert first["type"] == "3390" and first["paths"] == 4 and first["links"] == 3
    assert first["utc_offset"] == -18000 and first["interval"] == 60.0
    assert first["start"].isoformat() == "2023-11-14T17:14:20"  # 1,700,000,060 s after 1970, five hours west
    assert frame["kind"].to_list() == ["volume"] * 8 + ["alias"] * 6 + ["other"]
    assert frame["pool"].to_list() == ["0", "1"] * 7 + [None]
    assert frame["pool_aliases"].to_list() == [3] * 14 + [None]
    assert frame["label"].null_count() == 7


def test_supply_counters_pools_storage_and_paging(tmp_path: Path) -> None:
    site = Site()
    found = read(tmp_path, written(site))
    supply = last(found.supply)
    assert supply["tries"].to_list() == site.rise["TRIES"].tolist()
    assert supply["fails"].to_list() == site.rise["FAILS"].tolist()
    assert supply.select("pool", "fewest_free", "most_free", "aliases", "bases").rows() == [
        ("0", 0, 3, 3, 4), ("1", 0, 3, 3, 4),
    ]  # fmt: skip
    assert supply["plain"].all() and not supply["restarted"].any()
    spaces = last(found.storage)
    assert spaces.select("owner", "name", "resident", "dasd").rows() == [
        ("SYSTEM", "PTRM000A", 1000.0, 7.0), ("SYSTEM", "PTRM0000", 524288.0, 0.0),
    ]  # fmt: skip
    np.testing.assert_allclose(spaces["read_rate"], site.rise["spaces"][1] / 60)
    np.testing.assert_allclose(last(found.paging)["page_write_rate"], site.rise["spaces"][1, :1] / 60)
    assert last(found.paging)["device"].to_list() == ["6000"]


@pytest.mark.parametrize(
    ("distinct", "wide", "agree", "known", "good"),
    [
        (True, True, None, None, True),  # nothing to go by
        (False, True, 1.0, 1.0, False),
        (True, True, 0.1, 1.0, False),
        (True, False, 0.1, 1.0, True),  # no counts of 32 bits to agree with
        (True, True, 1.0, 0.1, False),
        (True, True, None, 0.1, False),
        (True, True, 1.0, None, True),
    ],
)
def test_a_shift_is_good_where_nothing_speaks_against_it(
    distinct: bool, wide: bool, agree: float | None, known: float | None, good: bool
) -> None:
    assert layouts.ShiftFit(0, distinct, wide, agree, known).good is good


@pytest.mark.parametrize("numbers", [[0xFFFF, 0], [0x10000, 0], [0x10001, 1, 0x1FFFF, 0xFFFF]])
def test_devices_of_several_sets_are_told_apart(numbers: list[int]) -> None:
    """A number is its subchannel set and four hexadecimal digits: 1 0000 is not 0000."""
    keys = reader._keys(layouts.Kind.ACTIVITY, {"RDEVDEV": np.array(numbers, np.uint32)})
    assert np.unique(keys).size == len(numbers)


def test_counters_wrap_at_their_size(tmp_path: Path) -> None:
    site = Site()
    for name in ("SSCH", "COUNT", *TIMES, "HFRDEVCT", "HFCTIO"):
        site.count[name] = 2**32 - 1 - site.random.integers(0, 9000, site.devices.size)
    site.pool_count["TRIES"] = np.full(2, 2**32 - 1)
    found = read(tmp_path, written(site, 2))
    assert found.notes == ()
    check_last(site, found)
    assert last(found.supply)["tries"].to_list() == site.rise["TRIES"].tolist()


def test_format_0_counts_wrap_at_16_bits_and_a_note_says_so(tmp_path: Path) -> None:
    site = Site(wide=False)
    found = read(tmp_path, written(site, 2))
    assert "modulo 65,536" in found.notes[0]
    ios = site.rise["SSCH"] % 2**16 + site.rise["PAVSSCH"]
    np.testing.assert_allclose(last(found.devices)["io_rate"], ios / 60)


def test_counters_that_begin_anew_and_measurements_that_stop_have_no_row_and_a_note(tmp_path: Path) -> None:
    site = Site()
    sets = site.sets(2)
    site.work(60.0)
    for name in ("SSCH", "COUNT", *TIMES):
        site.count[name][2] = 5
    sets.append([site.sample()])
    stopped = records((6, 14), site.time + 20, {"RDEVDEV": 0x5203})
    site.work(60.0)
    sets.append([Run(rows(stopped), event=True, start=0x20000100), site.sample()])
    found = read(tmp_path, monwrite(sets))
    assert [note for note in found.notes if "5202" in note] == [
        "D6R3: 1 interval is left out, their counters started again: 5202"
    ]
    assert any("switched off" in note and "5203" in note for note in found.notes)
    assert found.devices is not None and found.devices.height == 3 * 15 - 2
    assert "5203" not in last(found.devices)["device"]
    site.alive[3] = False
    check_last(site, found)


def test_devices_that_come_and_go_are_named(tmp_path: Path) -> None:
    site = Site()
    sets = site.sets(2)
    site.alive[1] = False
    for back in (False, False, True):
        site.alive[1] = back
        site.work(60.0)
        sets.append([site.sample()])
    site.work(60.0)
    sets.append([site.sample()])
    found = read(tmp_path, monwrite(sets))
    assert found.notes == (
        "D6R3: 1 interval is left out, there is no record of them in the sample before: 5201",
        "D6R3: 1 time, the sample after has no record of them: 5201",
    )
    check_last(site, found)


def test_an_interval_that_is_missing_makes_the_next_one_longer(tmp_path: Path) -> None:
    site = Site()
    sets = site.sets(2)
    before = {name: each.copy() for name, each in site.count.items()}
    site.work(60.0)
    site.work(60.0)
    sets.append([site.sample()])
    frame = last(read(tmp_path, monwrite(sets)).devices)
    assert frame["interval"].to_list() == [120.0] * 15
    ios = sum(site.count[name] - before[name] for name in ("SSCH", "PAVSSCH"))
    np.testing.assert_allclose(frame["io_rate"], ios / 120)


def test_a_system_after_an_ipl_or_a_clock_that_went_back_is_read_anew(tmp_path: Path) -> None:
    site, after, back = Site(), Site(ipl=1.65e9, time=1_700_000_600.0, seed=4), Site(seed=4)
    for content in (written(site) + written(after), written(site) + written(back)):
        found = read(tmp_path, content)
        assert found.notes == () and found.devices is not None
        assert found.devices.height == 4 * site.devices.size


def test_what_follows_the_end_of_a_page_is_stale(tmp_path: Path) -> None:
    content = written(Site(bases=9))
    end = records((1, 13), 0, {}).tobytes()
    at = content.find(end) + len(end)
    stale = Site(seed=9).sample().records[8][: 4096 - at % 4096]
    assert len(stale) > 20 and content[at : at + len(stale)] == bytes(len(stale))
    whole = read(tmp_path, content)
    same = read(tmp_path, content[:at] + stale + content[at + len(stale) :])
    assert whole.devices is not None and same.devices is not None and whole.devices.equals(same.devices)


def test_two_systems_in_one_file_are_kept_apart(tmp_path: Path) -> None:
    one, two = Site(), Site(name="MVSYS2", aligned=True, first=0x5300, seed=2)
    found = read(tmp_path, written(one) + written(two) + written(replace(one, seed=5)))
    assert found.devices is not None
    assert found.devices.group_by("system").len().sort("system").rows() == [("MVSYS1", 60), ("MVSYS2", 30)]
    check_last(two, MonitorTables(devices=found.devices.filter(pl.col("system") == "MVSYS2")))


def test_memory_is_bounded_by_chunks_and_their_size_changes_nothing(tmp_path: Path) -> None:
    site = Site(bases=40, aliases=20)
    path = tmp_path / "MONDATA"
    path.write_bytes(monwrite(site.sets(5)))
    whole, pieces = read_monitor(path), list(batches(path, chunk=1))
    assert len(pieces) == 6  # four samples with a sample before, the first, and the notes
    parts = [piece.devices for piece in pieces if piece.devices is not None]
    assert pl.concat(parts).equals(whole.devices)  # type: ignore[arg-type]


def test_a_sample_over_several_runs_is_one(tmp_path: Path) -> None:
    site = Site(bases=20)
    sets = site.sets(1)
    site.work(60.0)
    run = site.sample()
    sets += [[Run(run.records[:20])], [Run(run.records[20:50], start=0x10FF0), Run(run.records[50:])]]
    path = tmp_path / "MONDATA"
    path.write_bytes(monwrite(sets))
    found = read_monitor(path)
    check_last(site, found)
    parts = [piece.devices for piece in batches(path, chunk=1) if piece.devices is not None]
    assert pl.concat(parts).equals(found.devices)  # type: ignore[arg-type]


def test_which_high_frequency_field_counts_samples_is_seen_on_the_file(tmp_path: Path) -> None:
    site = Site()
    plain = last(read(tmp_path, written(site, 2)).devices)["queued"].to_list()
    turned = Site()
    turned.count["HFRDEVCT"], turned.count["HFCTIO"] = turned.count["HFCTIO"], turned.count["HFRDEVCT"]
    sets = turned.sets(1)
    turned.work(60.0)
    rise = turned.rise
    for name, other in (("HFRDEVCT", "HFCTIO"), ("HFCTIO", "HFRDEVCT")):
        turned.count[name] = turned.count[name] - rise[name] + rise[other]
    sets.append([turned.sample()])
    assert last(read(tmp_path, monwrite(sets)).devices)["queued"].to_list() == plain


def test_devices_of_another_subchannel_set_have_five_digits(tmp_path: Path) -> None:
    site = Site(bases=2, pools=1, aliases=2)
    content = bytearray(written(site))
    for number in (0x5202, 0x5203):  # now aliases of set 1, with the numbers of the bases
        old = (0x10000 + number).to_bytes(4, "big")
        while (at := content.find(old)) >= 0:
            content[at : at + 4] = (0x30000 + number - 2).to_bytes(4, "big")
        while (at := content.find(number.to_bytes(2, "big"))) >= 0:
            content[at : at + 2] = (number - 2).to_bytes(2, "big")
    frame = last(read(tmp_path, bytes(content)).devices)
    assert frame.select("device", "kind", "type").rows() == [
        ("5200", "volume", "3390"), ("5201", "volume", "3390"), ("15200", "alias", "3390"), ("15201", "alias", "3390"),
        ("5204", "other", "3088"),
    ]  # fmt: skip
    check_last(site, MonitorTables(devices=frame))


def test_a_device_may_change_its_pool_and_a_pool_its_aliases(tmp_path: Path) -> None:
    site = Site()
    sets = site.sets(2)
    site.pool[0], site.aliases = 1, 4
    site.work(60.0)
    sets.append([site.sample()])
    found = read(tmp_path, monwrite(sets))
    assert found.devices is not None and found.supply is not None
    assert found.devices.filter(pl.col("device") == "5200").select("pool", "pool_aliases").rows() == [
        ("0", 3),
        ("1", 4),
    ]
    assert found.supply["plain"].to_list() == [True, True, False, False]


def test_a_sample_of_configuration_alone_makes_no_device_a_late_one(tmp_path: Path) -> None:
    site = Site()
    head = Run(site.configuration() + rows(records((1, 11), site.time - 5, {})))
    found = read(tmp_path, monwrite([[head], *site.sets(2)[1:]]))
    assert found.notes == ()
    check_last(site, found)


def test_flags_are_found_by_labels_where_counts_of_pools_say_too_little(tmp_path: Path) -> None:
    site = Site()
    sets = site.sets(2)
    for runs in sets[1:]:  # D6R28 counts a base that is offline, and has no record of its own
        record = bytearray(runs[0].records[0])
        record[24:28] = (5).to_bytes(4, "big")
        runs[0].records[0] = bytes(record)
    frame = last(read(tmp_path, monwrite(sets)).devices)
    assert frame["kind"].to_list() == ["volume"] * 8 + ["alias"] * 6 + ["other"]


def test_counts_of_pools_come_before_labels(tmp_path: Path) -> None:
    site = Site()
    site.labelled = site.is_base | (site.devices == site.devices[-1])
    site.extra = site.labelled * 0x40  # a flag of all labelled devices, one more than there are bases
    frame = last(read(tmp_path, written(site)).devices)
    assert frame["kind"].to_list() == ["volume"] * 8 + ["alias"] * 6 + ["other"]


def test_queues_are_missing_where_nothing_looks_like_samples(tmp_path: Path) -> None:
    site = Site()
    sets = site.sets(1)
    site.work(60.0)
    site.count["HFRDEVCT"] = site.count["HFRDEVCT"] + site.random.integers(0, 99, site.devices.size)
    sets.append([site.sample()])
    found = read(tmp_path, monwrite(sets))
    assert last(found.devices)["queued"].null_count() == site.devices.size
    assert len(found.notes) == 1 and "neither HFRDEVCT nor HFCTIO" in found.notes[0]


@pytest.mark.parametrize("rising", [("HFRDEVCT",), ("HFCTIO",), ("HFRDEVCT", "HFCTIO"), ()])
def test_missing_queues_are_told_where_anything_was_sampled(tmp_path: Path, rising: tuple[str, ...]) -> None:
    """One device whose field rises is enough; where neither rises no samples were asked for, and nothing is said."""
    site = Site()
    sets = site.sets(1)
    before = {name: site.count[name].copy() for name in ("HFRDEVCT", "HFCTIO")}
    site.work(60.0)
    site.count |= before
    for name in rising:
        site.count[name][0] += 7
    sets.append([site.sample()])
    found = read(tmp_path, monwrite(sets))
    assert last(found.devices)["queued"].null_count() == site.devices.size
    assert len(found.notes) == bool(rising)


def test_classic_aliases_are_told_by_their_base(tmp_path: Path) -> None:
    site = Site(aliases=0, pools=1)
    base = {"RDEVDEV": 0x5203, "RDEVSID": 0x15203, "RDEVDVID": 0x3390, "CALRDEVDEV": 0x5200}
    sets = site.sets(1)
    sets[0][0].records += rows(records((1, 6), site.time, base))
    site.work(60.0)
    sets.append([site.sample()])
    frame = last(read(tmp_path, monwrite(sets)).devices)
    assert frame.select("device", "kind", "type", "alias_of").rows() == [
        ("5200", "base", "3390", None), ("5201", "volume", "3390", None), ("5202", "volume", "3390", None),
        ("5203", "classic alias", "->5200", "5200"), ("5204", "other", "3088", None),
    ]  # fmt: skip


class TestRefusals:
    def test_a_file_of_something_else(self, tmp_path: Path) -> None:
        refuse(tmp_path, b"FCX108  Run 2007/06/05", "expected monitor data")
        refuse(tmp_path, b"", "begins with nothing")
        refuse(tmp_path, bytes(8192), "expected monitor data")

    def test_a_file_that_was_transferred_as_text(self, tmp_path: Path) -> None:
        text = written(Site()).decode("cp037").encode("latin-1", "replace")
        refuse(tmp_path, text, "transfer it in binary")

    @pytest.mark.parametrize("cut", [1, 100, 4096, 5000])
    def test_a_file_that_ends_too_early_and_where_it_is_whole(self, tmp_path: Path, cut: int) -> None:
        content = written(Site())
        with pytest.raises(ReportError, match=r"ends within .* head -c (\d+)") as caught:
            read(tmp_path, content[:-cut])
        whole = int(str(caught.value).rsplit(" ", 1)[1])
        read(tmp_path, content[:whole])

    def test_a_page_that_is_missing_or_doubled(self, tmp_path: Path) -> None:
        content = written(Site(bases=40))
        page = content[8192 + 4096 : 8192 + 8192]
        refuse(
            tmp_path, content.replace(page, b"", 1), "should be a control record|ends within|no record header"
        )
        refuse(tmp_path, content.replace(page, page + page, 1), "control record|no record header")

    def test_records_that_fit_no_layout(self, tmp_path: Path) -> None:
        site = Site()
        site.device_records = lambda: records(  # type: ignore[method-assign]
            (6, 3),
            site.time,
            {"RDEVDEV": site.devices, "RDEVSID": site.devices + 0x10000, "SCMSSCH": 7, "SCGSSCH": 9},
            site.devices.size,
        )
        refuse(
            tmp_path,
            written(site),
            r"no layout fits \(as in z/VM 5.3: device numbers differ, 0 % of .* 100 % of the",
        )

    def test_a_record_built_outside_of_its_sample(self, tmp_path: Path) -> None:
        for hours in (-1, 1):
            sets = Site().sets(3)
            record = bytearray(sets[2][0].records[5])
            time = int.from_bytes(record[8:16], "big") + hours * (3_600_000_000 << 12)
            record[8:16] = time.to_bytes(8, "big")
            sets[2][0].records[5] = bytes(record)
            refuse(tmp_path, monwrite(sets), "D6R3 built at .* expected a time within its interval")

    def test_a_header_without_a_length(self, tmp_path: Path) -> None:
        content = bytearray(written(Site()))
        record = Site().sets(1)[1][0].records[6]
        at = bytes(content).find(record)
        content[at : at + 2] = bytes(2)
        refuse(tmp_path, bytes(content), rf"byte {at + 1}: 00 00 .* is no record header")

    def test_older_and_mixed_records(self, tmp_path: Path) -> None:
        short = records((6, 3), 1.7e9, {})[:, :228].copy()
        short[:, :2] = 0, 228
        refuse(tmp_path, monwrite([[Run(rows(short))]]), "228 bytes: expected 260")
        site = Site()
        sets = site.sets(1)
        site.more = 8
        site.work(60.0)
        sets.append([site.sample()])
        refuse(tmp_path, monwrite(sets), "D6R3 of 268 bytes among others of 260")

    def test_flags_that_do_not_say_which_devices_are_aliases(self, tmp_path: Path) -> None:
        site = Site()
        site.is_alias = site.is_alias & (site.devices % 2 == 0)
        site.is_base = site.is_base & False
        content = written(site)
        refuse(tmp_path, content, r"RDEVPVFG mark the 8 bases and 6 aliases .*`members`")
        found = read(tmp_path, content, pools_known=True)
        assert set(last(found.devices)["kind"]) == {"volume", "other"}

    def test_samples_that_go_back_or_have_no_end(self, tmp_path: Path) -> None:
        site = Site()
        sets = site.sets(3)
        refuse(tmp_path, monwrite([sets[0], sets[2], sets[1]]), "expected samples in order of time")
        sets[1][0].records.pop()
        refuse(tmp_path, monwrite(sets[:2]), "no sample")
        sets = Site().sets(3)
        sets[2][0].records.pop()
        refuse(tmp_path, monwrite(sets), "a second time in a sample")
        sets = Site().sets(3)
        sets[3][0].records.pop()
        assert any("last sample has no end" in note for note in read(tmp_path, monwrite(sets)).notes)

    def test_counts_that_contradict_each_other(self, tmp_path: Path) -> None:
        site = Site(bases=120)
        sets = site.sets(3)
        at = 10 + 2
        record = bytearray(sets[2][0].records[at])
        assert int.from_bytes(record[6:8], "big") == 3
        record[195] ^= 1
        sets[2][0].records[at] = bytes(record)
        found = read(tmp_path, monwrite(sets))
        assert any("contradict" in note for note in found.notes)
        assert found.devices is not None and found.devices.height == 2 * site.devices.size - 2

    def test_format_1_without_counts(self, tmp_path: Path) -> None:
        site = Site(wide=False)
        sets = site.sets(2)
        head = bytearray(sets[0][0].records[0])
        head[86] = 0x80
        sets[0][0].records[0] = bytes(head)
        refuse(tmp_path, monwrite(sets), "format-1 measurement blocks are in use")

    def test_water_marks_above_the_aliases(self, tmp_path: Path) -> None:
        site = Site()
        sets = site.sets(2)
        record = bytearray(sets[2][0].records[0])
        record[40:44] = (9).to_bytes(4, "big")
        sets[2][0].records[0] = bytes(record)
        refuse(tmp_path, monwrite(sets), "HPPMINCT of pool 0 is 9: expected at most its 3 aliases")


def test_bits_are_found_wherever_they_are(tmp_path: Path) -> None:
    assert {BASE_BIT, ALIAS_BIT} == {0x20, 0x08}
    site = Site(bases=3, aliases=3)  # as many bases as aliases: labels tell them apart
    frame = last(read(tmp_path, written(site)).devices)
    assert frame["kind"].to_list() == ["volume"] * 6 + ["alias"] * 6 + ["other"]


def test_the_example_of_the_pages_is_what_the_writer_writes() -> None:
    assert (ROOT / "docs/examples/monitor.monwrite").read_bytes() == example()


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, 0xFF), (1, 0), (2, 1), (3, 1), (4, 0xFF)],
    ids=["longer than a page", "shorter than its header", "reserved", "reserved too", "no domain"],
)
def test_a_file_is_monitor_data_where_its_first_record_has_a_header(at: int, value: int) -> None:
    """Length from 20 to 4,096, two bytes of zero, a domain that there is: each alone decides."""
    for form, known, first in ((capture, is_capture, 12), (monwrite, is_monwrite, 4096)):
        content = bytearray(form(Site(bases=1, aliases=0).sets(1)))
        assert known(bytes(content))
        content[first + at] = value
        if at == 1:
            content[first] = 0
        assert not known(bytes(content))


def test_the_usual_length_of_an_interval_is_one_that_occurred() -> None:
    """Where every minute turns into every half, the usual length goes from one to the other, and half the way."""
    system = RecordedSystem()
    span = SampleSpan(Path("x"), system, 0, np.zeros(1, np.int64), known=False)
    assert span.usual() == 0.0
    system.lengths += [60.0] * 500
    found = []
    for _ in range(200):
        system.lengths.append(30.0)
        found.append(span.usual())
    assert found == sorted(found, reverse=True) and set(found) == {60.0, 30.0}
    assert 40 <= found.count(60.0) <= 60


@pytest.mark.parametrize(
    ("share", "good"), [(layouts.NEARLY_ALL, True), (layouts.NEARLY_ALL - 1e-9, False), (None, True)]
)
@pytest.mark.parametrize("wide", [True, False])
def test_a_shift_is_good_up_to_the_share_that_is_asked_for(
    share: float | None, good: bool, wide: bool
) -> None:
    """Counts in 16 bits say nothing where there are none in 32; device numbers that repeat speak against it."""
    fit = layouts.ShiftFit(shift=0, distinct=True, wide=wide, agree=share, known=None)
    assert fit.good is (good or not wide)
    assert replace(fit, agree=None, known=share).good is good
    assert not replace(fit, distinct=False).good


def test_a_moment_is_told_in_utc() -> None:
    assert moment(0) == "1970-01-01 00:00:00.000"
    assert moment(951_782_400_123_000) == "2000-02-29 00:00:00.123"
    assert moment(2**62) == "4611686018427387904 us since 1970"
