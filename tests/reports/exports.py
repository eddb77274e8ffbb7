"""Exports of volumes as common tools write them: the same numbers under the headings, units and layout of each.

Headings are those that the tools document: RMF's DEVICE report and Spreadsheet Reporter, SMF Explorer, OMEGAMON, MXG, a
Performance Toolkit table, spreadsheets and pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

START: Final = datetime(2024, 5, 14, 9, 15)
INTERVAL: Final = 900.0


@dataclass(frozen=True)
class Volume:
    """One volume in one interval, as the tools print it: rates with two digits, times in ms with three."""

    device: str
    label: str
    lcu: str
    aliases: int
    rate: float
    iosq: float
    pend: float
    disconnect: float
    connect: float
    start: datetime = START

    @property
    def service(self) -> float:
        """Without the queue [ms]."""
        return self.pend + self.disconnect + self.connect

    @property
    def response(self) -> float:
        """With it [ms]."""
        return self.service + self.iosq


def volumes(random: Random, many: int = 8, intervals: int = 1) -> list[Volume]:
    """Volumes of one control unit: a few busy ones that wait, others that do not."""
    found = []
    for each in range(intervals):
        for k in range(many):
            rate = round(random.uniform(5, 900) if k else 900.25, 2)
            parts = [random.randrange(30, 300) / 1000 for _ in range(3)]
            iosq = random.choice((0, random.randrange(1, 4000))) / 1000
            start = START + timedelta(seconds=INTERVAL * each)
            found.append(Volume(f"8A{k:02X}", f"PROD{k:02d}", "0045", 4, rate, iosq, *parts, start))
    return found


def _lines(header: str, rows: Sequence[Sequence[object]], separator: str = ",") -> str:
    return "\n".join([header, *(separator.join(map(str, row)) for row in rows)]) + "\n"


def rmf_spreadsheet(rows: Sequence[Volume]) -> str:
    """RMF Spreadsheet Reporter: titles above the headings, dates as in the United States."""
    header = ("Date,Time,System,LCU,Volume Serial,Device Number,Device Type,PAV,Device Activity Rate,Avg Resp Time,"
              "Avg IOSQ Time,Avg Pend Time,Avg Disc Time,Avg Conn Time,% Device Util")  # fmt: skip
    body = [
        (v.start.strftime("%m/%d/%Y"), v.start.strftime("%H:%M:%S"), "SYSA", v.lcu, v.label, v.device, "33909", "1.0H",
         f"{v.rate:.2f}", f"{v.response:.3f}", f"{v.iosq:.3f}", f"{v.pend:.3f}", f"{v.disconnect:.3f}",
         f"{v.connect:.3f}", "12.3") for v in rows
    ]  # fmt: skip
    return "DASD Activity Report\nPostprocessor z/OS V2R5\n\n" + _lines(header, body)


def smf_explorer(rows: Sequence[Volume]) -> str:
    """SMF 74-1 of SMF Explorer by pandas.to_csv, index and all; times in units of 128 microseconds."""
    header = ",sid,snm,dat,ist,int,sam,num,lcu,ser,typ,dev,ssc,mec,cnn,pen,dis,que,hpv,hpc"
    body = []
    for k, v in enumerate(rows):
        ssc = round(v.rate * INTERVAL)
        times = [round(each * ssc / 0.128) for each in (v.connect, v.pend, v.disconnect)]
        que = round(v.iosq / 1000 * v.rate * 900)
        clock = v.start.strftime("%H:%M:%S")
        body.append((k, "SYSA", "SYSA", v.start.date(), f"0 days {clock}", "0 days 00:15:00", 900, v.device, v.lcu,
                     v.label, "3010200F", "33909", ssc, ssc, *times, que, True, v.aliases))  # fmt: skip
    return _lines(header, body)


def pandas_index(rows: Sequence[Volume]) -> str:
    """A frame of somebody's own, by to_csv with its index."""
    header = ",volser,lcu,timestamp,iops,service_time_us,iosq_us,n_aliases"
    body = [(k, v.label, v.lcu, v.start.isoformat(sep=" "), v.rate, f"{1000 * v.service:.0f}", f"{1000 * v.iosq:.0f}",
             v.aliases) for k, v in enumerate(rows)]  # fmt: skip
    return _lines(header, body)


def excel(rows: Sequence[Volume]) -> str:
    """A German spreadsheet: semicolons, decimal commas, a row of units, a sum below."""
    header = "VolSer;LCU;Datum und Zeit;I/O Rate;Resp Time;IOSQ;Service Time;Aliases"
    units = ";;;1/s;ms;ms;ms;"
    body = [(v.label, v.lcu, v.start.strftime("%d.%m.%Y %H:%M"), *(f"{each:.3f}".replace(".", ",") for each in
             (v.rate, v.response, v.iosq, v.service)), v.aliases) for v in rows]  # fmt: skip
    header = header.replace("Datum und Zeit", "Timestamp")
    total = f"{sum(v.rate for v in rows):.3f}".replace(".", ",")
    return (
        "\r\n".join([header, units, *(";".join(map(str, row)) for row in body), f"Total;;;{total};;;;"])
        + "\r\n"
    )


def perfkit(rows: Sequence[Volume]) -> str:
    """Columns of a DEVICE listing as CSV, with its own names."""
    header = "Addr,Type,Label/ID,I/O,Pend,Disc,Conn,Serv,Resp,CUWt,Req. Qued"
    body = [(v.device, "3390-9", v.label, f"{v.rate:.2f}", *(f"{each:.3f}" for each in
             (v.pend, v.disconnect, v.connect, v.service, v.response)), ".0",
             f"{v.rate * v.iosq / 1000:.4f}") for v in rows if v.start == START]  # fmt: skip
    return _lines(header, body)


def mxg(rows: Sequence[Volume]) -> str:
    """Names of MXG's TYPE74, times as SAS prints them."""
    header = "STARTIME,SYSTEM,DEVNR,VOLSER,LCU,SSCHRATE,AVGRSPMS,AVGIOQMS,AVGPNDMS,AVGDISMS,AVGCONMS,NRALIAS"
    body = [
        (v.start.strftime("%d%b%Y:%H:%M:%S.00").upper(), "SYSA", v.device, v.label, v.lcu, v.rate,
         *(f"{each:.3f}" for each in (v.response, v.iosq, v.pend, v.disconnect, v.connect)), v.aliases) for v in rows
    ]  # fmt: skip
    return _lines(header, body)


def omegamon(rows: Sequence[Volume]) -> str:
    """A workspace of OMEGAMON, exported: quoted headings with units, blanks and a placeholder for what is not there."""
    header = ('"System ID","Timestamp","Device Address","Volume Label","I/O Rate","Average Response Time (msec)",'
              '"Average Pending Time (msec)","Average Disconnect Time (msec)","Average Connect Time (msec)",'
              '"Average Queue","Control Unit"')  # fmt: skip
    body = [
        ('"ZVM1"', f'"{v.start.strftime("%m/%d/%y %H:%M:%S")}"', f'"{v.device}"', f'"{v.label}"', f'"{v.rate:,.2f}"',
         f"{v.response:.3f}", f"{v.pend:.3f}", f"{v.disconnect:.3f}", f"{v.connect:.3f}",
         f"{v.rate * v.iosq / 1000:.4f}", '"n/a"') for v in rows
    ]  # fmt: skip
    return _lines(header, body)


def generic(rows: Sequence[Volume]) -> str:
    """The least that people send: no service time."""
    return _lines("Volser,IOPS,Resp(ms),IOSQ(ms)", [
        (v.label, f"{v.rate:.2f}", f"{v.response:.3f}", f"{v.iosq:.3f}") for v in rows if v.start == START
    ])  # fmt: skip


def least(rows: Sequence[Volume]) -> str:
    """A rate and a response time alone."""
    return _lines("Volser,IOPS,Resp(ms)", [(v.label, f"{v.rate:.2f}", f"{v.response:.3f}") for v in rows
                                           if v.start == START])  # fmt: skip


EXPORTS: Final[dict[str, Callable[[Sequence[Volume]], str]]] = {
    "RMF spreadsheet": rmf_spreadsheet, "SMF Explorer": smf_explorer, "pandas": pandas_index, "Excel": excel,
    "PerfKit": perfkit, "MXG": mxg, "OMEGAMON": omegamon, "generic": generic,
}  # fmt: skip
"""Eight that are read without --map."""


# ---- RMF postprocessor XML

HEADINGS: Final = (
    "Storage Group", "Device Number", "Device Type", "Number of Cylinders", "Volume Serial", "PAV", "LCU",
    "Device Activity Rate", "Avg Resp Time", "Avg IOSQ Time", "Avg CMR Delay", "Avg DB Delay", "Avg Int Delay",
    "Avg Pend Time", "Avg Disc Time", "Avg Conn Time", "% Dev Conn", "% Dev Util",
)  # fmt: skip


def _cells(cells: Sequence[object], kind: str = "", number: int = 1) -> str:
    attribute = f' type="{kind}"' if kind else ""
    columns = "".join(f"<col>{cell}</col>" if cell != "" else "<col/>" for cell in cells)
    return f'<row refno="{number}"{attribute}>{columns}</row>\n'


def _report(metric: str, start: datetime, name: str, headings: Sequence[str], rows: Sequence[str]) -> str:
    end = start + timedelta(seconds=INTERVAL)
    when = "%m/%d/%Y-%H.%M.%S"
    columns = "".join(f'<col type="N">{each}</col>' for each in headings)
    return (
        f'<postprocessor>\n<metric id="{metric}"><description>{metric}</description><type>Interval</type></metric>\n'
        "<version><smf-data>z/OS V2R5</smf-data></version><resource><resname>SYSA</resname><restype>SYSTEM</restype>"
        f'</resource>\n<time-data><display-start locale="en-us">{start.strftime(when)}</display-start>'
        f'<display-end locale="en-us">{end.strftime(when)}</display-end>'
        '<report-interval unit="minutes">15:00:000</report-interval></time-data>\n'
        f'<segment id="1"><name>{name}</name><part id="2"><table id="3"><column-headers>{columns}</column-headers>\n'
        f"{''.join(rows)}</table></part></segment>\n</postprocessor>\n"
    )


def rmf_xml(
    rows: Sequence[Volume], *, wait: float = 0.012, most: int = 6, offline: int = 2, ioq: bool = True
) -> str:
    """DEVICE and IOQ reports of all intervals, with devices that are offline and sums as RMF prints them."""
    reports = []
    for start in dict.fromkeys(v.start for v in rows):
        there = [v for v in rows if v.start == start]
        body = [
            _cells(("PRIME", f"0{v.device}", "33909", 10017, v.label, "1.3H", v.lcu, f"{v.rate:.3f}",
                    f"{v.response:.3f}", f"{v.iosq:.3f}", ".000", ".000", ".000",
                    f"{v.pend:.3f}", f"{v.disconnect:.3f}", f"{v.connect:.3f}",
                    "1.00", "1.00"), number=k) for k, v in enumerate(there, 1)
        ]  # fmt: skip
        body += [_cells(("", f"08B{k:02X}", "33909", "", "", "", "0045", *[""] * 11)) for k in range(offline)]
        total = sum(v.rate for v in there)
        body.append(_cells(("", "LCU", "", "", "", "", "0045", f"{total:.3f}", *[""] * 10), "SUM"))
        reports.append(_report("DEVICE", start, "Direct Access Device Activity", HEADINGS, body))
        if ioq:
            paths = [_cells(("0045", "8A00", chpid, f"{total / 2:.3f}", "0.0", "0.1", f"{wait:.3f}" if k == 0 else "",
                             most if k == 0 else "")) for k, chpid in enumerate(("5C", "5D"))]  # fmt: skip
            reports.append(_report("IOQ", start, "Logical Control Units", (
                "LCU", "Control Units", "Chan Paths", "CHPID Taken", "% DP Busy", "% CU Busy", "HPAV Wait", "HPAV Max",
            ), paths))  # fmt: skip
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet type="text/xsl" href="include/ddsml-pp.xsl"?>\n'
        f"<ddsml><server><name>RMF-DDS-Server</name></server>\n{''.join(reports)}</ddsml>\n"
    )
