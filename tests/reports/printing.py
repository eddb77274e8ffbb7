"""Print DEVICE listings in the published layout from the text of each cell: the counterpart of the reader."""

from dataclasses import dataclass

HEAD = """\
FCX108  Run 2007/06/05 14:00:12         DEVICE
                                        General I/O Device Load and Performance
From 2007/05/27 15:00:14
To   2007/05/27 15:10:14
For    600 Secs 00:10:00                Result of Y040180P Run
________________________________________________________________________________
 """
SCREEN = "FCX108      CPU 2094  SER 46A8D  Interval 23:58:00 - 00:01:30    Perf. Monitor"
HEADING = """\
 .    .                     .      ___     .    .    .    .    .    .    .    .
 <-- Device Descr. -->  Mdisk Pa- <-Rate/s-> <------- Time (msec) -------> Req.
 Addr Type   Label/ID   Links ths  I/O Avoid Pend Disc Conn Serv Resp CUWt Qued"""
ENDS = (29, 33, 38, 44, 49, 54, 59, 64, 69, 74, 79)  # last column of each number, Links to Qued


@dataclass(frozen=True)
class Row:
    """The cells of a row as text: address, type, label and eleven numbers from Links to Qued."""

    address: str
    type: str
    label: str
    numbers: tuple[str, ...]

    def text(self) -> str:
        """Words from the left, numbers to the right."""
        line = f" {self.address} {self.type:<6} {self.label:<8}"
        for digits, end in zip(self.numbers, ENDS, strict=True):
            line += digits.rjust(end - len(line))
        return line


PUBLISHED = {
    "links": "0", "paths": "4", "rate": "755", "avoid": ".0", "pend": ".2", "disc": ".2", "conn": ".9",
    "serv": "1.3", "resp": "3.7", "cuwt": ".0", "qued": "1.84",
}  # fmt: skip


def row(address: str = "522A", type: str = "3390-3", label: str = "BWPVS0", **changed: str) -> str:
    """Print the published row of 522A, some of its cells changed."""
    assert set(changed) <= set(PUBLISHED)
    return Row(address, type, label, tuple({**PUBLISHED, **changed}.values())).text()


def page(*rows: str, head: str = HEAD, heading: str = HEADING) -> str:
    """Print one page."""
    return "\n".join((head, heading, *rows)) + "\n"


def split_lines(text: str) -> list[tuple[int, str, int]]:
    """Number, text and offset of each line, as an editor cuts them: the reference of the reader by blocks."""
    *ended, last = text.split("\n")
    lines = [line for part in ended for line in part.rstrip("\r").split("\r")] + last.split("\r")
    found = []
    for number, line in enumerate(lines, start=1):
        offset = 0
        for part in line.split("\f"):
            if part.strip() or "\f" not in line:
                found.append((number, part, offset))
            offset += len(part) + 1
    return found
