"""How much I/Os come together, members without a row, and columns under other names: said over days as of one row."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import planner
from planner.cli import main
from planner.measurements.collect import collect
from planner.site.example import example_volumes
from planner.site.question import site
from tests.site.large_site import pool_rows


@pytest.fixture(scope="module")
def bursty() -> pl.DataFrame:
    """One pool of bursty volumes over some intervals."""
    return pool_rows("bursty", seed=7, name="P1", volumes=4, intervals=3, seconds=7200.0, first=1)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pools of two volumes over a day, one cell of the second pool damaged."""
    path = tmp_path_factory.mktemp("site") / "site.csv"
    frame = example_volumes(days=1, pools=2, volumes=2, hours=3)
    frame = frame.with_columns(pl.col("io_rate").cast(pl.String))
    at = pl.int_range(pl.len()) == frame.with_row_index().filter(pl.col("pool") == "P2")["index"][0]
    frame.with_columns(pl.when(at).then(pl.lit("n/a")).otherwise("io_rate").alias("io_rate")).write_csv(path)
    return path


@pytest.mark.long
@pytest.mark.parametrize("shared", [False, True])
def test_a_volume_that_two_systems_have_is_missing_where_it_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shared: bool
) -> None:
    """Device numbers are those of a system: the same one, readable in another system, does not stand for it."""
    frame = example_volumes(days=1, systems=2, pools=1, volumes=2).with_columns(
        pl.col("io_rate").cast(pl.String)
    )
    damaged = (pl.col("system") == "SYS1") & (pl.col("device") == frame["device"][0])
    path, pools = tmp_path / "site.csv", tmp_path / "pools.csv"
    frame.with_columns(pl.when(~damaged).then("io_rate")).write_csv(path)
    pools.write_text("system,pool,ssid\nSYS1,P1,A\nSYS2,P1,A\n")
    assert main(["site", str(path), *(["--pools", str(pools)] if shared else [])]) == 2
    name = "SYS1+SYS2/A" if shared else "SYS1/P1"
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"Pool {name}: 1 of 2 volumes could not be read")


@pytest.mark.long
@pytest.mark.parametrize("own", [[], ["pool"], ["pool", "aliases"]])
def test_members_beside_a_table_are_taken_by_every_command(tmp_path: Path, own: list[str]) -> None:
    """As days and as one pool; where the table says something else of a volume, a note says so."""
    frame = example_volumes(days=1, pools=1, volumes=2)
    path, members = tmp_path / "site.csv", tmp_path / "members.csv"
    frame.select(pl.exclude({"pool", "aliases"} - {*own})).write_csv(path)
    first, last = frame["device"].min(), frame["device"].max()
    members.write_text(f"device,role,pool\n{first}-{last},base,M\n5F00,alias,M\n")
    over_days = site(path, members=members)
    (pool,) = over_days.pools
    alone = planner.aliases(path, members=members)
    assert (pool.pool, pool.in_use, pool.needed_worst) == ("M", 1, alone.recommended)
    for answer in (over_days, alone):
        told = "; ".join(answer.notes)
        assert ("the former is taken" in told) == bool(own)
        assert not own or f"members.csv says of {first} pool M with 1 alias, {path} P1 with" in told


@pytest.mark.long
@pytest.mark.parametrize("share", ["none", "full", 0.5])
def test_a_share_has_the_same_number_over_days_and_alone(bursty: pl.DataFrame, share: str | float) -> None:
    (pool,) = site(bursty, together=share, workers=1).pools
    assert pool.decided_start is not None
    when = pool.decided_start.isoformat()
    alone = planner.aliases(bursty, pool="P1", interval=when, together=share)
    assert (pool.needed, (pool.needed_low, pool.needed_high)) == (alone.recommended, alone.range)
    assert sum("as given" in note for note in alone.notes) == 1


@pytest.mark.long
def test_more_together_never_needs_fewer_and_is_said(bursty: pl.DataFrame) -> None:
    answers = [site(bursty, together=share, workers=1) for share in ("none", 0.5, "full")]
    counts = [answer.pools[0].needed for answer in answers]
    assert counts == sorted(counts) and counts[0] < counts[-1]
    assert "come together to 50 %, as given" in answers[1].notes[0]
    assert "as given" not in " ".join(site(bursty, workers=1).notes)


@pytest.mark.long
def test_an_archive_takes_a_share(bursty: pl.DataFrame, tmp_path: Path) -> None:
    collect([bursty], tmp_path / "archive")
    kept, plain = (site(source, together="full", workers=1) for source in (tmp_path / "archive", bursty))
    assert kept.to_dict()["pools"] == plain.to_dict()["pools"]


@pytest.mark.parametrize("command", ["site", "growth", "report"])
@pytest.mark.parametrize("share", ["-10%", "120%", "some"])
def test_no_share(command: str, share: str, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["-o", "-"] if command == "report" else []
    assert main([command, str(table), f"--together={share}", *more]) == 2
    assert f"--together = '{share}': expected none, full, or a share" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["site", "growth", "report"])
def test_volumes_of_their_own_take_no_share(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.csv"
    example_volumes(days=1, pools=1, volumes=2).drop("pool", "aliases").write_csv(path)
    more = ["-o", "-"] if command == "report" else []
    assert main([command, str(path), "--together", "full", *more]) == 2
    assert "--together = 1.0: expected it for pools" in " ".join(capsys.readouterr().err.split())


@pytest.mark.long
def test_a_damaged_row_stands_first(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = "Pool SYS1/P2: 1 of 2 volumes could not be read in some intervals: "
    for words, code in (([], 2), (["--allow-missing"], 0), (["--pool", "P1"], 0)):
        assert main(["site", str(table), *words]) == code
        said = " ".join(capsys.readouterr().out.split())
        assert said.startswith(first + "by the other rows what follows.") == ("--pool" not in words)
    assert main(["site", str(table), "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["volumes_missing"] == 1
    assert {row["pool"]: row["volumes_missing"] for row in found["pools"]} == {"P1": 0, "P2": 1}
    for words, code in (([], 2), (["--allow-missing"], 0)):
        assert main(["report", str(table), "-o", "-", "--growth", "0", *words]) == code
        assert first in capsys.readouterr().out


@pytest.mark.long
def test_limits_may_come_earlier(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, members = tmp_path / "site.csv", tmp_path / "members.csv"
    frame = example_volumes(days=8, pools=1, volumes=2).with_columns(
        pl.lit(0).cast(pl.Int64).alias("aliases")
    )
    names = frame["device"].unique().sort().to_list()
    frame.filter(pl.col("device") == names[0]).drop("pool", "aliases").write_csv(path)
    members.write_text(
        "".join(["device,role,pool\n", *(f"{name},base,A\n" for name in names)]), encoding="utf-8"
    )
    for words, code in (([], 2), (["--allow-missing"], 0)):
        assert main(["growth", str(path), "--pools", str(members), "--horizon", "30d", *words]) == code
        said = " ".join(capsys.readouterr().out.split())
        assert said.startswith(
            "Pool SYS1/A: 1 of 2 volumes could not be read: limits may come earlier than said."
        )


@pytest.mark.long
@pytest.mark.parametrize("command", ["site", "growth", "report"])
def test_columns_under_other_names(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, plain = tmp_path / "other.csv", tmp_path / "plain.csv"
    frame = example_volumes(days=8 if command == "growth" else 1, pools=1, volumes=2)
    frame.write_csv(plain)
    frame.rename({"io_rate": "spin", "service_ms": "stay"}).write_csv(path)
    more = {"report": ["-o", "-", "--growth", "0"], "growth": ["--horizon", "30d", "--json"]}.get(
        command, ["--json"]
    )
    assert main([command, str(path), *more]) == 2
    capsys.readouterr()
    said = []
    for words in ([str(plain)], [str(path), "--map", "io_rate=spin,service_ms=stay"]):
        assert main([command, *words, *more]) in (0, 1)
        said.append(capsys.readouterr().out)
    if command != "report":  # a page names its sources
        assert said[0] == said[1]
    assert main([command, str(path), "--map", "io_rate", *more]) == 2
    assert "--map = 'io_rate': expected FIELD=COLUMN" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["site"], ["growth"], ["report", "-o", "-"], ["aliases", "pool"]])
def test_an_archive_has_its_columns(
    words: list[str], bursty: pl.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect([bursty], tmp_path / "archive")
    assert main([*words, str(tmp_path / "archive"), "--map", "io_rate=IOPS"]) == 2
    assert "--map = 'io_rate': expected it with a table: the archive" in " ".join(
        capsys.readouterr().err.split()
    )
