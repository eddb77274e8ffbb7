"""Options shared by commands, and groups of commands."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeGuard, TypeVar, get_type_hints

import typer
from typer.core import TyperGroup

from planner import files
from planner.errors import InputError, ReportError

if TYPE_CHECKING:
    from planner.units import Dimension


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value: its placeholder and its text in the help; by default named like its argument."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(help: str, *names: str, **more: Any) -> Any:
    """An option without a value."""
    return typer.Option(*names, help=help, **more)


def argument(metavar: str, help: str) -> Any:
    """A positional argument; the help shows no default, which is None where there is one."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def quantity(text: str | None, dimension: Dimension | None, option: str, *, zero: bool = False) -> Any:
    """Value typed for an option, SI: a quantity, or a count if `dimension` is None; None if not given."""
    from planner import units

    if text is None or dimension is None:
        return None if text is None else units.parse_count(text, argument=option)
    return units.parse(text, dimension, argument=option, zero=zero)


def measured(metavar: str, dimension: Dimension | None, help: str, *names: str, zero: bool = False) -> Any:
    """An option with a quantity, or a count if `dimension` is None; `expanded` converts it to SI."""
    found = option(metavar, help, *names)
    found.read = functools.partial(quantity, dimension=dimension, zero=zero)
    return found


Json = Annotated[bool, flag("Print JSON.", "--json")]
Csv = Annotated[bool, flag("Print CSV.", "--csv")]
Output = Annotated[Path | None, option("FILE", "Write to FILE.", "--output", "-o")]
Force = Annotated[bool, flag("Write over existing files.", "--force")]
Plot = Annotated[Path | None, option("FILE", "Draw to FILE.png, .svg or .pdf.", "--plot")]
Report = Annotated[Path | None, option("FILE.html", "Write a self-contained HTML page to FILE.", "--report")]
DEFAULT_MODEL = "hyperpav"  # `planner.library.DEFAULT_MODEL`, which a help page need not import
OUTPUTS: Final = ("output", "plot", "report")  # names of parameters
Model = Annotated[str, option("FILE", "Model file, name of a shipped model, or none.", "--model")]
System = Annotated[str | None, option("NAME", "Only this system of several.", "--system")]
From = Annotated[str | None, option("TIME", "Only intervals from TIME on, as 2026-03-01.", "--from")]
To = Annotated[str | None, option("TIME", "Only intervals before TIME.", "--to")]
Map = Annotated[str | None, option("LIST", "Columns of a table, as io_rate=IOPS,service_ms=Svc.", "--map")]
Pools = Annotated[Path | None, option("FILE.csv", "Members of pools: columns device, role, pool.", "--pools")]
RealStorage = Annotated[float | None, measured("SIZE", "storage", "Real storage, as 256GB.")]
ResidentPages = Annotated[
    float | None, measured("N", None, "Mean resident pages in each in-use 1 MB segment, 1 to 256.")
]
Scheduler = Annotated[str | None, option("ADDRESS", "Dask scheduler, as tcp://HOST:8786.", "--scheduler")]
Workers = Annotated[int | None, option("N", "Processes on this machine.", "--workers")]
Wait = Annotated[float | None, measured("TIME", "time", "Target: mean wait, as 0.1ms.")]
Queued = Annotated[float | None, measured("I/Os", None, "Target: mean queue, as 0.05.")]
Response = Annotated[
    float | None, measured("TIME", "time", "Target: mean response, as 2ms.", "--target-response")
]
Together = Annotated[
    str | None, option("SHARE", "How much the volumes of a pool act together: none, full, or a share as 50%.")
]
AllowMissing = Annotated[bool, flag("Answer as if no volume were missing.", "--allow-missing")]
Value = TypeVar("Value")
STANDARD_OUTPUT: Final = "-"
# Options whose names differ from their arguments.
SPELLED: Final = {
    "source": "FILE", "start": "--from", "end": "--to", "members": "--pools", "population": "--requesters",
    "speeds": "--cpu-speed", "ranges": "--over", "name": "TOPIC",
}  # fmt: skip
ELSEWHERE: Final = {"map": "planner collect --map"}  # for commands without --map
CONTEXT: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"]}
_GIVEN: ContextVar[Mapping[str, Any]] = ContextVar("given", default={})  # noqa: B039 - never modified


def is_file(output: Path | None) -> TypeGuard[Path]:
    """Whether an answer goes to a file, not to standard output."""
    return output is not None and str(output) != STANDARD_OUTPUT


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Format and destination of an answer; invalid combinations are refused before any work.

    `json` and `csv`: for programs instead of people; `output`: file for the answer, standard output if None; `force`:
    whether to overwrite existing files; `plot` and `report`: files for a picture and a page, None if not wanted.
    """

    json: Json = False
    csv: Csv = False
    output: Output = None
    force: Force = False
    plot: Plot = None
    report: Report = None

    def __post_init__(self) -> None:
        """Refuse both forms at once, and files to which no answer, picture or page can be written."""
        if self.json and self.csv:
            raise InputError("--json --csv", "both", "one of them")
        if is_file(self.output):
            files.writable(self.output, force=self.force)
        if self.plot is not None:
            files.drawable(self.plot, force=self.force)
        if self.report is not None:
            files.writable(self.report, "report", force=self.force)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which measured intervals: only of this `system`, only from `start` on and before `end`."""

    system: System = None
    start: From = None
    end: To = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRows(Span):
    """Selection and reading of measured rows.

    `together`: how much the volumes of a pool act together; `map`: other names of columns; `allow_missing`: whether
    members without a readable row are acceptable.
    """

    together: Together = None
    map: Map = None
    allow_missing: AllowMissing = False


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Replace dataclass parameters of a command by options for their fields, and convert quantities to SI.

    Errors name the option and value as typed, not the argument; so do names in backticks that an error suggests.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    readers: dict[str, Callable[[Any], Any]] = {}
    typed_as: dict[str, tuple[str, str]] = {}  # an option and its parameter, by both of their names

    def take(name: str, default: Any, hint: Any) -> None:
        for info in getattr(hint, "__metadata__", ()):
            spelling = info.default if isinstance(info.default, str) else spelled(name)  # typer's first name
            if isinstance(info, typer.models.ArgumentInfo):
                spelling = str(info.metavar).strip("[].")
                typed_as["FILE"] = ("FILE", name)
            typed_as[name] = typed_as[spelling] = (spelling, name)
            if hasattr(info, "read"):
                readers[name] = functools.partial(info.read, option=spelling)
                hint = Annotated[str if default is inspect.Parameter.empty else str | None, info]
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=hint))

    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not dataclasses.is_dataclass(kind):
            take(parameter.name, parameter.default, kind)
            continue
        assert isinstance(kind, type)
        fields = get_type_hints(kind, include_extras=True)
        groups[parameter.name] = (kind, list(fields))
        for field in dataclasses.fields(kind):
            take(field.name, field.default, fields[field.name])

    @functools.wraps(command)
    def run(**values: Any) -> None:
        _keep_given(values)

        def said(name: str) -> Any:
            return readers[name](values.pop(name)) if name in readers else values.pop(name)

        def as_options(text: str) -> str:
            def option(word: re.Match[str]) -> str:
                found = _option_of(word[1], typed_as)
                return found[0] if found else ELSEWHERE.get(word[1], word[0])

            return re.sub(r"`(\w+)`", option, text)

        try:
            # the form is the last group; make it first, so that it refuses invalid options first
            made = {name: kind(**{field: said(field) for field in fields})
                    for name, (kind, fields) in reversed(groups.items())}  # fmt: skip
            command(**made, **{name: said(name) for name in list(values)})
        except InputError as error:
            names = error.argument.split(", ")
            typed = [found for name in names if (found := _option_of(name, typed_as))]
            expected = as_options(error.expected)
            if len(typed) < len(names):
                raise InputError(error.argument, error.value, expected, error.unit) from None
            options = ", ".join(option for option, _ in typed)
            if (name := typed[0][1]) in readers and len(names) == 1:
                raise InputError(options, as_typed(name), expected) from None
            raise InputError(options, error.value, expected, error.unit) from None
        except ReportError as error:
            problem = as_options(error.problem)
            raise ReportError(error.path, problem, line=error.line, column=error.column) from None

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _keep_given(values: Mapping[str, Any]) -> None:
    """Keep what was given; a file that is read is not written over, even with `force`: nobody measures it again."""
    _GIVEN.set(dict(values))
    for name in OUTPUTS if values.get("force") else ():  # without it nothing is written over
        place = values.get(name)
        if isinstance(place, Path) and any(_holds(each, place) for each in sources()):
            raise InputError(spelled(name), str(place), "another file than those that are read")


def _holds(source: Path, place: Path) -> bool:
    """Whether a place is an existing file that is a source, or lies in the folder that is one."""
    try:
        return place.is_file() and place.resolve().is_relative_to(source.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _option_of(name: str, typed_as: Mapping[str, tuple[str, str]]) -> tuple[str, str] | None:
    """An option of a command and its parameter, by either name; None if it has no such option."""
    return typed_as.get(name) or typed_as.get(spelled(name))


def spelled(name: str) -> str:
    """Option name of an argument."""
    return SPELLED.get(name, f"--{name.replace('_', '-')}")


def as_typed(name: str) -> Any:
    """Text typed for an argument of the running command, for its errors."""
    return _GIVEN.get()[name]


def once(pairs: Iterable[tuple[str, Value]], argument: str) -> dict[str, Value]:
    """Collect the value of each key; refuse a key given twice, since the later value would override the earlier."""
    found: dict[str, Value] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(argument, f"{key} twice", "each of them once")
        found[key] = value
    return found


def pairs(texts: Iterable[str] | None, argument: str, expected: str) -> dict[str, str]:
    """Names and values of options such as KEY=VALUE, each name once."""
    cut = [(text, *text.partition("=")) for text in texts or ()]
    if wrong := [text for text, name, equals, _ in cut if not (name and equals)]:
        raise InputError(argument, wrong[0], expected)
    return once(((name, value) for _, name, _, value in cut), argument)


def exclusive(given: Mapping[str, object], why: str) -> None:
    """Refuse options that exclude each other."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(" and ".join(named), "together", f"one of them: {why}")


class Once(TyperGroup):
    """A group of commands that refuses an option given twice, since the later would override the earlier.

    `asked_of_files` are the commands to suggest if a file is given in place of one; by default, all that take files.
    """

    asked_of_files: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words; an option of one of the commands requires that command first."""
        option = args[0].partition("=")[0] if args else ""
        owners = [name for name, each in self.commands.items() if option in _spellings(each)]
        if owners and option not in _spellings(self):
            ways = " or ".join(f"{ctx.command_path} {name} {option}" for name in owners[:3])
            ctx.fail(f"{option} is an option of a command, which comes first: {ways}")
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; suggest one for a file, and refuse an option given twice."""
        if args[0] not in self.commands and _is_path(args[0]):
            takers = self.asked_of_files or [
                name for name, each in self.commands.items()
                if any(parameter.param_type_name == "argument" for parameter in each.params)
            ]  # fmt: skip
            ways = [f"{ctx.command_path} {name} {shlex.quote(args[0])}" for name in takers]
            if ways:
                ctx.fail(f"{args[0]!r} is no command; with a file: {' or '.join(ways)}")
        name, command, rest = super().resolve_command(ctx, args)
        words = rest[: rest.index("--")] if "--" in rest else rest
        for parameter in [] if command is None or hasattr(command, "commands") else command.params:
            if getattr(parameter, "multiple", True) or getattr(parameter, "count", False):
                continue
            spellings = tuple(parameter.opts)
            given = [word for word in words if word.partition("=")[0] in spellings]
            if len(given) > 1:
                raise InputError(max(spellings, key=len), "given twice", "it once")
        return name, command, rest


def group(help: str) -> typer.Typer:
    """A command with subcommands."""
    return typer.Typer(cls=Once, no_args_is_help=True, rich_markup_mode=None, help=help)


def _spellings(command: Any) -> set[str]:
    """Names of all options of a command."""
    return {each for parameter in command.params for each in (*parameter.opts, *parameter.secondary_opts)}


def _is_path(word: str) -> bool:
    """Whether a word that is no command names a file: an existing one, or one that looks like a path."""
    with suppress(OSError, ValueError):  # too long, or with a null character
        return word == STANDARD_OUTPUT or bool(set(word) & set("./\\")) or Path(word).exists()
    return False


def sources() -> list[Path]:
    """Files that the running command reads: paths among its arguments and options, except those that it writes."""
    found: list[Path] = []
    for name, value in _GIVEN.get().items():
        if name not in OUTPUTS:
            every = value if isinstance(value, (list, tuple)) else [value]
            found += [each for each in every if isinstance(each, Path)]
    return found
