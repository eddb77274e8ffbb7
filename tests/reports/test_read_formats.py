"""The door to files takes what z/VM, Linux and z/OS write: recognized by content, in the one table."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

from planner.errors import ReportError
from planner.measurements.read import read
from tests.reports.monitor_site import Site, written
from tests.reports.monitor_writer import capture
from tests.reports.test_linux import BOOT, DEBUGFS, UIDS, iostat, numbers, report
from tests.reports.test_zos import devices, pools

SECOND = report("2024-05-14T10:13:33+0200", dasda=numbers("300.00", "100.00", "2.00", "6.00"))


@pytest.mark.parametrize(
    "path", sorted([*Path("docs/examples").glob("*"), *Path("data").rglob("*.listing")]), ids=str
)
def test_what_was_not_measured_is_null(path: Path) -> None:
    """A nan would spread through every sum and mean."""
    try:
        found = read(path)
    except ReportError:
        return  # what no reader takes by itself
    for frame in (found.devices, found.supply, found.storage):
        assert not frame.select(pl.any_horizontal(cs.float().is_nan().any())).item()


def test_monitor_data_by_path_or_bytes_beside_other_files(tmp_path: Path) -> None:
    content = written(Site())
    path = tmp_path / "anything.csv"
    path.write_bytes(content)
    found = read([path, "data/hyperpav/522A-2-aliases.listing"])
    assert found.what[0] == "z/VM monitor data" and found.devices["system"].unique().len() >= 2
    assert found.supply.height == 4 and found.storage.height == 4
    same = read(content)
    assert same.devices.drop("file").equals(read(path).devices.drop("file"))
    assert read(capture(Site().sets(3))).devices.height == same.devices.height


def test_members_of_pools_from_elsewhere_override_the_flags(tmp_path: Path) -> None:
    members = tmp_path / "pools.csv"
    members.write_text("device,role,pool\n5200-5203,base,A\n5208-5209,alias,A\n", encoding="utf-8")
    found = read(written(Site()), members)
    row = found.devices.row(0, named=True)
    assert (row["device"], row["kind"], row["pool"], row["pool_aliases"]) == ("5200", "volume", "A", 2)


def test_a_monitor_file_that_is_cut_short_or_was_transferred_as_text_says_so() -> None:
    with pytest.raises(ReportError, match="head -c 8192"):
        read(written(Site())[:9000])
    with pytest.raises(ReportError, match="transfer it in binary"):
        read(written(Site()).decode("cp037").encode("latin-1", "replace"))


def test_linux_by_iostat_and_lsdasd(tmp_path: Path) -> None:
    path, uids = tmp_path / "io", tmp_path / "uids"
    path.write_text(iostat(BOOT, SECOND), encoding="utf-8")
    uids.write_text(UIDS, encoding="utf-8")
    row = read(path, uids).devices.row(0, named=True)
    assert (row["device"], row["pool"], row["pool_aliases"]) == ("C28A", "IBM.750000000TH031.c280", 2)
    assert read(path).devices["pool"].to_list() == [None]
    assert read(DEBUGFS.encode()).what == ("statistics of the DASD driver",)


def test_zos_by_frames_csv_and_parquet(tmp_path: Path) -> None:
    frames = read([devices(), pools()])
    assert frames.supply.row(0, named=True)["fewest_free"] == 2
    assert frames.devices["pool"].to_list() == ["0045", "0045", None]
    devices().write_csv(tmp_path / "devices")
    pools().write_parquet(tmp_path / "pools")
    files = read([tmp_path / "devices", tmp_path / "pools"])
    for name in ("devices", "supply"):
        ours, theirs = getattr(frames, name), getattr(files, name)
        assert ours.drop("file", "line").equals(theirs.drop("file", "line"))


def test_pandas_frames_of_smf_explorer() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(devices().to_dicts())
    assert read(frame).devices.drop("file").equals(read(devices()).devices.drop("file"))
    frame["int"] = pandas.to_timedelta(["00:15:00"] * 3)
    frame["timestamp"] = pandas.to_datetime(["2024-05-14 09:30:00"] * 3)
    found = read(frame.drop(columns=["dat", "ist"])).devices
    assert (
        found["start"].equals(read(devices()).devices["start"]) and found["interval"].to_list() == [900.0] * 3
    )
