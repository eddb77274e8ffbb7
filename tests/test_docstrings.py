"""Every public name of the planner says what it is, takes, gives and refuses, in the words of its signature.

Public is what a package, or a module directly in planner/, hands out by `__all__`. Sections follow numpydoc. A property
and a dunder need one sentence; so does a method, but for those of laws (`planner.queueing`), and a command, whose
docstring is its help. A law that `planner.queueing` hands out also needs a reference and an example.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator

import pytest

from planner import queueing
from planner.answer import Answer, Tabular
from planner.devices.kinds import DeviceKind
from tests.checkout import modules, trees

Definition = ast.FunctionDef | ast.AsyncFunctionDef
PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : \S", re.MULTILINE)
OF_BASES = {name for name in vars(Answer) | vars(Tabular) | vars(DeviceKind) if not name.startswith("_")}
WITHOUT_RESULT = {"None", "Never", "NoReturn"}


def sections(docstring: str) -> dict[str, str]:
    """Bodies of the numpydoc sections by their title; the summary has the title ""."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return {"": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}


def signature(function: Definition, *, method: bool) -> list[str]:
    """Names of the arguments as a docstring spells them, without self and cls."""
    arguments = function.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    if method and "staticmethod" not in decorators(function):
        names = names[1:]
    names += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    names += [argument.arg for argument in arguments.kwonlyargs]
    return names + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])


def decorators(definition: Definition | ast.ClassDef) -> set[str]:
    """Names of the decorators, without their arguments and without the module they come from."""
    return {ast.unparse(node).partition("(")[0].rpartition(".")[2] for node in definition.decorator_list}


def documented(docstring: str) -> list[str]:
    """Names that the section Parameters lists, in its order."""
    listed = PARAMETER.findall(sections(docstring).get("Parameters", ""))
    return [name for names in listed for name in names.split(", ")]


def raised(function: Definition) -> set[str]:
    """Errors that the body raises by name."""
    calls = [node.exc for node in ast.walk(function) if isinstance(node, ast.Raise) and node.exc is not None]
    names = (ast.unparse(call.func if isinstance(call, ast.Call) else call) for call in calls)
    return {name for name in names if re.fullmatch(r"[A-Z]\w*", name)}


def whole_docstring(function: Definition, module: str) -> str | None:
    """What `help` shows: that of a law is completed as it is imported."""
    if "documented" in decorators(function):
        return inspect.getdoc(getattr(importlib.import_module(module), function.name))
    return ast.get_docstring(function)


def function_faults(function: Definition, module: str, *, method: bool, brief: bool) -> Iterator[str]:
    """What a docstring lacks; `brief` asks for one sentence only."""
    docstring = whole_docstring(function, module)
    if not docstring:
        yield "no docstring"
        return
    if brief:
        return
    expected, found = signature(function, method=method), documented(docstring)
    if expected != found:
        yield f"Parameters are {found}, the signature has {expected}"
    titles = sections(docstring)
    returns = ast.unparse(function.returns) if function.returns else "None"
    if returns not in WITHOUT_RESULT and not titles.keys() & {"Returns", "Yields"}:
        yield "no Returns"
    missing = {name for name in raised(function) if not re.search(rf"\b{name}\b", titles.get("Raises", ""))}
    if missing:
        yield f"Raises lacks {', '.join(sorted(missing))}"


def class_faults(definition: ast.ClassDef) -> Iterator[str]:
    """What the docstring of a class lacks: its sentence, the arguments of its own __init__, its fields."""
    docstring = ast.get_docstring(definition)
    if not docstring:
        yield "no docstring"
        return
    for node in definition.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            expected, found = signature(node, method=True), documented(docstring)
            if expected != found:
                yield f"Parameters are {found}, __init__ has {expected}"
        elif isinstance(node, ast.AnnAssign) and not field_is_told(node, docstring):
            yield f"field {ast.unparse(node.target)} is not told"


def field_is_told(node: ast.AnnAssign, docstring: str) -> bool:
    """Whether a field needs no word (private, of the class) or has it: in the docstring, or by `quantity`."""
    name, value = ast.unparse(node.target), node.value
    if name.startswith("_") or "ClassVar" in ast.unparse(node.annotation):
        return True
    by_quantity = isinstance(value, ast.Call) and ast.unparse(value.func).endswith("quantity")
    return by_quantity or re.search(rf"\b{name}\b", docstring) is not None


def faults(source: str | ast.Module, module: str, handed_out: set[str] | None = None) -> list[str]:
    """All that is missing from the docstrings of a module; only of names `handed_out`, if there are such."""
    tree = ast.parse(source) if isinstance(source, str) else source
    found = [] if ast.get_docstring(tree) else [f"{module}: no docstring"]
    for path, node, method in public(tree):
        if handed_out is not None and path.partition(".")[0] not in handed_out:
            continue
        if isinstance(node, ast.ClassDef):
            problems = list(class_faults(node))
        else:
            brief = bool(decorators(node) & {"property", "cached_property"}) or node.name.startswith("__")
            brief |= module.startswith("planner.cli")
            brief |= method and handed_out is not None and not module.startswith("planner.queueing")
            brief |= method and (node.name in OF_BASES or not signature(node, method=True))
            problems = list(function_faults(node, module, method=method, brief=brief))
        found += [f"{module}.{path}: {problem}" for problem in problems]
    return found


def public(
    tree: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[str, Definition | ast.ClassDef, bool]]:
    """Public classes and functions, with their path and whether they are methods."""
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        in_class = isinstance(tree, ast.ClassDef)
        special = in_class and node.name.startswith("__") and node.name != "__init__"
        if (node.name.startswith("_") and not special) or "overload" in decorators(node):
            continue
        yield prefix + node.name, node, in_class
        if isinstance(node, ast.ClassDef):
            yield from public(node, f"{prefix}{node.name}.")


def handed_out(module: str) -> set[str] | None:
    """Names that the package of a module, or a module directly in planner/, hands out; None for a command."""
    _, package, *inside = module.split(".")
    if inside and package == "cli":
        return None
    lists = [
        node.value
        for node in trees()[f"planner.{package}"].body
        if isinstance(node, ast.Assign) and names_all(node)
    ]
    return {name for names in lists for name in ast.literal_eval(names)}


def names_all(node: ast.Assign) -> bool:
    return ast.unparse(node.targets[0]) == "__all__"


@pytest.mark.parametrize("module", sorted(set(modules()) - {"planner"}))
def test_docstrings_tell_the_whole_signature(module: str) -> None:
    assert faults(trees()[module], module, handed_out(module)) == []


@pytest.mark.parametrize("package", ["queueing", "devices", "reports", "render", "answer", "units", "errors"])
def test_a_package_says_what_it_hands_out(package: str) -> None:
    assert handed_out(f"planner.{package}.some_module")


NAMED = [getattr(queueing, name) for name in getattr(queueing, "__all__", [])]
LAWS = [named for named in NAMED if inspect.isfunction(named)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_queueing_law_cites_its_equation_and_shows_an_example(law: Callable[..., object]) -> None:
    titles = sections(inspect.getdoc(law) or "")
    assert "References" in titles
    assert ">>>" in titles.get("Examples", "")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_queueing_law_says_which_arguments_may_be_left_out(law: Callable[..., object]) -> None:
    told = dict(re.findall(r"^(\w+) : (.*)$", inspect.getdoc(law) or "", re.MULTILINE))
    for name, argument in inspect.signature(law).parameters.items():
        assert ("optional" in told[name]) == (argument.default is not argument.empty), name


GOOD = '''
"""A module."""
def f(a, *rest, b=1, **options) -> int:
    """Sum.

    Parameters
    ----------
    a : int
        One.
    *rest : int
        More.
    b : int, optional
        Two.
    **options : int
        Others.

    Returns
    -------
    int
        Sum.

    Raises
    ------
    ValueError
        Never.
    """
    raise ValueError(a)
'''


def test_a_good_docstring_has_no_fault() -> None:
    assert faults(GOOD, "m") == []


def test_only_what_is_handed_out_is_asked_for_its_sections() -> None:
    bad = GOOD.replace("Returns", "Results")
    assert faults(bad, "m", {"f"}) == ["m.f: no Returns"]
    assert faults(bad, "m", {"g"}) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"""A module."""', "", "m: no docstring"),
        ("b : int", "c : int", "signature has"),
        ("a : int", "a, z : int", "signature has"),
        ("*rest : int", "rest : int", "signature has"),
        ("Returns\n    -------", "Notes\n    -----", "no Returns"),
        ("ValueError\n", "TypeError\n", "Raises lacks ValueError"),
        ("def f(", "def _f(", ""),
    ],
)
def test_each_fault_is_found(old: str, new: str, fault: str) -> None:
    assert GOOD.count(old) == 1
    found = faults(GOOD.replace(old, new), "m")
    assert len(found) == bool(fault)
    assert all(fault in text for text in found)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('"""M."""\nclass C:\n    """Of a `size`."""\n    size: int', ""),
        ('"""M."""\nclass C:\n    """Of a `seize`."""\n    size: int', "field size is not told"),
        ('"""M."""\nclass C:\n    """C."""\n    size: Array = quantity("size")', ""),
        ('"""M."""\nclass C:\n    size: int', "no docstring"),
        ('"""M."""\nclass C:\n    """C."""\n    def f(self) -> None: ...', "m.C.f: no docstring"),
        ('"""M."""\nclass C:\n    """C."""\n    def f(self) -> int:\n        """F."""', ""),
        ('"""M."""\nclass C:\n    """C."""\n    def f(self, a) -> None:\n        """F."""', "signature has"),
        ('"""M."""\nclass C:\n    """C."""\n    def plot(self, axes) -> int:\n        """F."""', ""),
        ('"""M."""\nclass C:\n    """C."""\n    @property\n    def f(self) -> int:\n        """F."""', ""),
        ('"""M."""\nclass C:\n    """C."""\n    def __init__(self, a): ...', "__init__ has ['a']"),
        ('"""M."""\nclass C:\n    """C."""\n    def __len__(self) -> int: ...', "no docstring"),
    ],
)
def test_each_fault_of_a_class_is_found(source: str, fault: str) -> None:
    found = faults(source, "m")
    assert len(found) == bool(fault)
    assert all(fault in text for text in found)
