"""docs/reference/api.md and the pages below docs/reference/api: the public names, which `make expected` writes.

The page of all names can be read as text: it has the signature and the first sentence of each name and member. The page
of a module has a directive, by which `make docs` writes the whole docstrings.
"""

import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import qrt
from qrt import errors, ir, kernels, metrics, models, plot, quantization
from qrt.quantization import targets
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "reference" / "api.md"
FOLDER = ROOT / "docs" / "reference" / "api"
MODULES = (qrt, ir, kernels, metrics, plot, quantization, targets, models, errors)
PURPOSES = {
    qrt: "Types, tensors, functions on tensors, and loading, compiling and quantizing programs.",
    ir: "Programs as MLIR: reading, building, changing and printing them.",
    kernels: "The instruction set and the number of threads.",
    metrics: "Measures of the difference between two arrays.",
    plot: "Plots of tensors.",
    quantization: "Calibration, quantization, and reports on quantized programs.",
    targets: "The kernels of a device, for which a program is quantized.",
    models: "Reading and writing model files.",
    errors: "The classes of all errors.",
}
HEAD = """# The public names

This page lists the public functions and classes of qrt, by module, with their signatures and the first sentence of
their docstrings. `help(qrt.matmul)` prints the whole docstring: parameters, errors and an example. `make docs` writes
all of them as HTML, on one page for each module. [Numerics](../numerics.md) defines what each operation computes.

The examples in docstrings run after these imports:

```python
import numpy as np
from qrt import *
from qrt.errors import *
from qrt.ir import *
from qrt.kernels import *
from qrt.models import *
from qrt.plot import *
from qrt.quantization import *
from qrt.quantization.targets import *
from qrt.types import *
```

"""


def pages() -> dict[Path, str]:
    """Return the text of each page."""
    listed = "\n".join(f"api/{module.__name__}" for module in MODULES)
    toctree = f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n\n"
    table = "".join(
        f"| [`{module.__name__}`](#{anchor(module.__name__)}) | {PURPOSES[module]} |\n" for module in MODULES
    )
    text = f"{HEAD}| module | contents |\n|---|---|\n{table}\n{toctree}" + "\n".join(map(section, MODULES))
    return {PAGE: text} | {FOLDER / f"{module.__name__}.md": module_page(module) for module in MODULES}


def anchor(title: str) -> str:
    """Return the anchor that a forge makes of a heading."""
    return title.replace(".", "")


def module_page(module: types.ModuleType) -> str:
    """Return the page whose docstrings Sphinx fills in."""
    name = module.__name__
    excluded = [key for key in module.__all__ if isinstance(getattr(module, key), types.ModuleType)]
    options = ":members:\n" + (f":exclude-members: {', '.join(excluded)}\n" if excluded else "")
    link = f"[The public names](../api.md#{anchor(name)}) has the first sentence of each."
    directive = f"```{{eval-rst}}\n.. automodule:: {name}\n" + "".join(f"   {line}\n" for line in options.splitlines())
    says = f"In the HTML pages, which `make docs` writes, this page has the whole docstrings of the names of `{name}`."
    return f"# {name}\n\n{says} {link}\n\n{directive}```\n"


def section(module: types.ModuleType) -> str:
    """Return the names of a module: functions, then classes with their members."""
    values = {key: getattr(module, key) for key in module.__all__ if key != "__version__"}
    values = {key: value for key, value in values.items() if not isinstance(value, types.ModuleType)}
    classes = {key: value for key, value in values.items() if isinstance(value, type)}
    name = module.__name__
    text = f"## {name}\n\n{PURPOSES[module]} [All parameters and examples](api/{name}.md).\n\n"
    text += "".join(entry(f"{name}.{key}", value) for key, value in values.items() if key not in classes)
    return (
        text.rstrip("\n") + "\n" + "".join(f"\n### {name}.{key}\n\n{described(key, classes[key])}" for key in classes)
    )


def described(name: str, kind: type) -> str:
    """Return the entry of a class and those of its public members."""
    if issubclass(kind, BaseException):
        bases = ", ".join(base.__name__ for base in kind.__bases__)
        text = f"- `class {name}({bases})`: {summary(kind)}\n"
    else:
        text = entry(name, kind)
    return text + "".join(entry(key, member, is_member=True) for key, member in members(kind))


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the functions and properties that a class defines and describes itself.

    A field of a dataclass is neither, even if its default is a class or a function; the signature has the fields.
    """
    fields = getattr(kind, "__dataclass_fields__", {})
    for key, member in vars(kind).items():
        if key.startswith("_") or key in fields or not getattr(getattr(member, "func", member), "__doc__", None):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            yield key, getattr(kind, key)
        elif isinstance(member, property) or hasattr(member, "func") or callable(member):
            yield key, member


def entry(name: str, value: Any, is_member: bool = False) -> str:
    """Return the line of a function, a class or a property."""
    if is_member and (isinstance(value, property) or hasattr(value, "func")):
        return f"- `.{name}`: {summary(value)}\n"
    return f"- `{'.' * is_member}{name}{signature(value, is_member)}`: {summary(value)}\n"


def signature(value: Any, is_member: bool = False) -> str:
    """Return the parameters with their defaults, without annotations: docstrings have the types in words."""
    whole = inspect.signature(value)
    if list(whole.parameters) == ["args", "kwargs"]:  # a protocol
        return ""
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in whole.parameters.values()
        if not parameter.name.startswith("_") and not (is_member and parameter.name == "self")
    ]
    text = str(whole.replace(parameters=parameters, return_annotation=whole.empty))
    text = re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", text)
    return re.sub(r"=\w+\(<.*?>:\d+:\d+\)|=<[^>]*>|=Ellipsis", "=...", text)  # objects of the package's own


def summary(value: Any) -> str:
    """Return the first sentence of a docstring on one line."""
    text = inspect.getdoc(getattr(value, "func", value))
    assert text, f"{value} has no docstring"
    line = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
    return re.split(r"(?<=\.)(?= [A-Z`])", line, maxsplit=1)[0]
