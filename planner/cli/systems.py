"""``planner storage`` and ``system``: limits, budgets and usage of storage; a whole system from one file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from planner import render
from planner.cli import options, printing
from planner.cli.options import argument, flag, measured, option
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.answer import Answer

storage = options.group(
    "Find the storage limit that is met first, and what guests need.\n\n"
    "Example: planner storage limits --release 5.3 --real-storage 256GB --resident-pages 50"
)

InUse = Annotated[float | None, measured("SIZE", "storage", "Virtual storage in use, as 900GB.")]
Release = Annotated[str | None, option("N.N", "z/VM release, as 5.3.")]
PtrmSpaces = Annotated[
    int | None, option("N", "PTRM data spaces; those of the release by default.", "--ptrm-spaces")
]


@storage.command(name="limits", no_args_is_help=True)
@options.expanded
def limits(
    release: Annotated[str, option("N.N", "z/VM release, as 5.3.")],
    real_storage: Annotated[float, measured("SIZE", "storage", "Real storage, as 256GB.")],
    resident_pages: Annotated[
        float, measured("N", None, "Mean resident pages in each in-use segment, 1 to 256.")
    ],
    in_use: InUse = None,
    ptrm_spaces: PtrmSpaces = None,
    *,
    form: options.Form,
) -> None:
    """Show every limit on the virtual storage that can be in use.

    Example: planner storage limits --release 5.3 --real-storage 256GB --resident-pages 50 --in-use 900GB
    """
    from planner.advice.storage import StorageBudget

    budget = StorageBudget(
        release=release, real_storage=real_storage, resident_pages=resident_pages, in_use=in_use,
        ptrm_spaces=ptrm_spaces,
    )  # fmt: skip
    printing.show(budget.limits(), form)


@storage.command(name="frames", no_args_is_help=True)
@options.expanded
def frames(
    in_use: InUse = None,
    resident_pages: options.ResidentPages = None,
    guests: Annotated[
        str | None, option("[N]xSIZE,...", "Guests and the storage of each, as 20x88GB or 60x16GB,4x128GB.")
    ] = None,
    instantiated: Annotated[
        float | None, measured("SHARE", "share", "Share of guest storage that was touched, as 70%.")
    ] = None,
    real_storage: options.RealStorage = None,
    *,
    form: options.Form,
) -> None:
    """Count the frames of virtual storage and its PGMBKs.

    Either --in-use with --resident-pages, or --guests with --instantiated; guests touch their storage in
    sequence (256 pages in each segment) unless --resident-pages gives the instantiated pages per segment.

    With --real-storage, it finds how many fit: guests, for --guests 88GB without a count; pages per segment, for
    --in-use without --resident-pages.

    Example: planner storage frames --guests 60x16GB,4x128GB --instantiated 70%

    Example: planner storage frames --in-use 900GB --real-storage 256GB
    """
    from planner.advice import storage as budgets

    if (in_use is None) == (guests is None):
        given = "neither" if in_use is None else "both"
        raise InputError(
            "--in-use, --guests", given, "--in-use with --resident-pages, or --guests with --instantiated"
        )
    answer: Answer
    if in_use is not None:
        if instantiated is not None or (resident_pages is None and real_storage is None):
            raise InputError(
                "--in-use", options.as_typed("in_use"), "--resident-pages with it, and no --instantiated"
            )
        if resident_pages is None and real_storage is not None:
            answer = budgets.resident_pages_that_fit(in_use=in_use, real_storage=real_storage)
        else:
            answer = budgets.frame_budget(
                in_use=in_use, resident_pages=resident_pages or 0, real_storage=real_storage
            )
    else:
        if instantiated is None:
            raise InputError("--guests", guests, "--instantiated with it, as 70%")
        kinds = [_guests(part, str(guests)) for part in str(guests).split(",")]
        numbers, sizes = [number for number, _ in kinds if number is not None], [each for _, each in kinds]
        if len(numbers) < len(sizes):
            if len(sizes) > 1:
                raise InputError("--guests", guests, "a count, of each size, as 60x16GB,4x128GB")
            if real_storage is None:
                raise InputError(
                    "--guests", guests, "a count, as 20x88GB, or --real-storage to ask how many fit"
                )
            answer = budgets.guests_that_fit(
                guest_storage=sizes[0], instantiated=instantiated, real_storage=real_storage,
                resident_pages=resident_pages,
            )  # fmt: skip
        else:
            answer = budgets.guest_frame_budget(
                guests=numbers, guest_storage=sizes, instantiated=instantiated, real_storage=real_storage,
                **({} if resident_pages is None else {"resident_pages": resident_pages}),
            )  # fmt: skip
    printing.show(answer, form)


@storage.command(name="usage", no_args_is_help=True)
@options.expanded
def usage(
    listings: Annotated[
        list[Path], argument("FILE...", "DSPACESH listings (FCX134), monitor data or an archive.")
    ],
    release: Release = None,
    real_storage: options.RealStorage = None,
    resident_pages: options.ResidentPages = None,
    ptrm_spaces: PtrmSpaces = None,
    *,
    span: options.Span,
    form: options.Form,
) -> None:
    """Show how much of each limit the PTRM data spaces use.

    From DSPACESH listings, monitor data or an archive; the release follows from them. The limit of real
    storage needs --real-storage and --resident-pages. Two or more listings of different times show the growth
    and the days left.

    Example: planner storage usage monday.listing friday.listing --real-storage 120GB --resident-pages 1
    """
    from planner.advice.storage import storage_usage
    from planner.measurements import read

    found = read(list(listings), **asdict(span))
    answer = storage_usage(
        found, release=release, real_storage=real_storage, resident_pages=resident_pages, ptrm_spaces=ptrm_spaces
    )  # fmt: skip
    printing.show(answer, form)


def _guests(text: str, whole: str) -> tuple[int | None, float]:
    """Number of guests (None without one) and storage of each, from text such as 20x88GB, a part of `whole`."""
    from planner import units

    number, separator, each = text.partition("x")
    if not separator and not text.strip().isdecimal():
        number, each = "", text
    elif not separator or not number.strip().isdecimal() or int(number) < 1:
        raise InputError(
            "--guests", whole, "a count of at least 1, an x and a size, such as 20x88GB or 60x16GB,4x128GB"
        )
    try:
        return (int(number) if number else None), units.parse(each, "storage", argument="--guests")
    except InputError as error:  # show all that was typed, not one part of it
        raise InputError(
            "--guests", whole, f"{error.expected}; commas separate sizes, decimals take a point"
        ) from None


@options.expanded
def system(
    file: Annotated[Path | None, argument("[FILE.toml]", "The system.")] = None,
    settings: Annotated[
        list[str] | None,
        option(
            "TABLE.KEY=VALUE",
            "As storage.real=1088GiB, paging.depth=unlimited or guests[linux].count=17; may be repeated.",
            "--set",
        ),
    ] = None,
    over: Annotated[
        list[str] | None, option("TABLE.KEY=lo:hi:step", "As guests.count=10:40:2; may be repeated.")
    ] = None,
    compare: Annotated[
        Path | None, option("OTHER.toml", "Compare with another system; --set changes both.")
    ] = None,
    template: Annotated[
        str | None, option("xiv|hyperpav|minimal", "Print a commented file to start from.")
    ] = None,
    measured: Annotated[
        Path | None,
        option("ARCHIVE|FILE", "Print a file made from measurements, for you to complete.", "--from"),
    ] = None,
    name: Annotated[str | None, option("NAME", "System of --from, if it holds several.", "--system")] = None,
    schema: Annotated[bool, flag("Print the JSON Schema of the file, for editors.", "--schema")] = False,
    *,
    form: options.Form,
) -> None:
    """Solve a whole system from one file: storage, paging, devices, processors and throughput together.

    The file is TOML; --template prints one to start from, --schema describes every key for editors.

    Example: planner system SYSTEM.toml --set storage.real=1088GiB --over guests.count=16:24
    """
    from planner import system as model

    if name is not None and measured is None:
        raise InputError("--system", name, "--from with it")
    if template is not None or schema or measured is not None:
        asked = {
            "--template": template, "--from": measured, "--schema": schema or None, "FILE.toml": file,
            "--set": settings, "--over": over, "--compare": compare, "--plot": form.plot, "--report": form.report,
        }  # fmt: skip
        first, *others = [key for key, said in asked.items() if said is not None]
        if others:
            raise InputError(first, str(file or others[0]), "no other argument with it")
        if schema:
            text = render.to_json(model.json_schema())
        elif measured is not None:
            text = model.from_measurements(measured, name)
        else:
            text = model.template(template or "")
        printing.put(text, form.output, force=form.force)
        return
    if file is None:
        raise InputError("FILE.toml", None, "a system file; --template minimal prints one to start from")
    if over and compare is not None:
        raise InputError("--over --compare", "both", "one of them")
    answer: Answer
    with printing.progress("Solving the system"):
        if over:
            answer = model.whatif(file, over, settings or [])
        else:
            answer = model.solve(file, settings or [])
            if compare is not None:
                answer = model.compare(answer, model.solve(compare, settings or []))
    printing.show(answer, form)
