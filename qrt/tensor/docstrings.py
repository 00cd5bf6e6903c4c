"""Docstrings of public functions, completed by the sections that many of them share.

A docstring describes the parameters, ``Returns`` and ``Raises`` that are special to its function. `complete_docstring`
adds the others, in the order of the signature: ``help`` and notebooks show the whole.
"""

import inspect
import re
from collections.abc import Callable
from inspect import Parameter
from textwrap import fill, indent
from typing import ParamSpec, TypeVar, get_args

P = ParamSpec("P")
R = TypeVar("R")

_PARAMETERS = {
    "q": ("QuantTensor", "Of any shape."),
    "a": ("QuantTensor", "Of a shape that broadcasts with that of ``b``, as NumPy's do; per layer or per axis."),
    "b": ("QuantTensor", "As ``a``."),
    "x": ("QuantTensor", "The images, of shape ``(images, height, width, channels)``; per layer."),
    "kernel": ("int or (int, int)", "The height and width of the window."),
    "strides": (
        "int or (int, int)",
        "The strides of the window along height and width. The default of a pooling function is its ``kernel``.",
    ),
    "padding": (
        '{"VALID", "SAME"} or ((top, bottom), (left, right))',
        'Elements with the value 0 around each image: none for "VALID", as many as in TensorFlow for "SAME", or the '
        "given numbers. Pooling functions ignore these elements.",
    ),
    "dilations": ("int or (int, int)", "The distances between the elements of the window along height and width."),
    "bias": ("QuantTensor", "One value for each column or output channel, of rank 1. It needs ``out_type``."),
    "out_type": (
        "UniformType or str",
        "The type to which the result is requantized. Without it the result is exact: i32 with zero point 0 and the "
        "product of the operands' scales. It is an error if i32 does not hold every possible result.",
    ),
    "requant": ("str", 'The rule by which the result is scaled and rounded (docs/numerics.md, "Requantization"):'),
    "out": ("QuantTensor", "A tensor of the result's type and shape, which is filled and returned."),
}
"""The type and the meaning of parameters, by name; a default is added to the type."""
_RETURNS = {
    "strides": "Shape ``(images, height, width, channels)``, where height and width are numbers of windows. A "
    "convolution has a channel for each filter.",
    "b": "Of the shape that ``a`` and ``b`` broadcast to.",
    "": "Of the shape of ``{first}``.",
}
_RAISES = {
    "requant": "If shapes, channels or types do not fit together, i32 cannot hold every result and ``out_type`` is "
    "missing, ``requant`` is not a rule or does not support the types, or an option has an unknown value.",
    "": "If an argument has a wrong kind, type or shape, or an option has an unknown value.",
}
"""The text for each function that has this parameter; the last text is for all other functions."""
_TITLE = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)


def complete_docstring(function: Callable[P, R]) -> Callable[P, R]:
    """Add the sections and parameters that a function's docstring leaves out; return the function."""
    if not function.__doc__:
        return function
    summary, *parts = _TITLE.split(inspect.cleandoc(function.__doc__))
    sections = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    parameters = inspect.signature(function).parameters
    own: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", sections.get("Parameters", "")):
        own |= dict.fromkeys(entry.partition(" : ")[0].split(", "), entry)
    entries = [own.get(name) or _shared_entry(parameter) for name, parameter in parameters.items()]
    returns, raises = (
        next(text for name, text in texts.items() if name in ("", *parameters)) for texts in (_RETURNS, _RAISES)
    )
    complete = {
        "Parameters": "\n".join(dict.fromkeys(entries)),
        "Returns": _entry("QuantTensor", returns.format(first=next(iter(parameters)))),
        "Raises": _entry("QuantTypeError", raises),
    } | {title: text for title, text in sections.items() if title != "Parameters"}
    parts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in complete.items()]
    function.__doc__ = "\n\n".join([summary.strip(), *parts])
    return function


def _shared_entry(parameter: Parameter) -> str:
    kind, meaning = _PARAMETERS[parameter.name]
    if parameter.name == "requant":
        *names, last = (f'"{name}"' for name in get_args(parameter.annotation))
        meaning += f" {', '.join(names)} or {last}."
    if parameter.default is not Parameter.empty:
        kind += ", optional" if parameter.default is None else f", default {parameter.default!r}".replace("'", '"')
    return _entry(f"{parameter.name} : {kind}", meaning)


def _entry(head: str, text: str) -> str:
    return f"{head}\n{indent(fill(text, 112), '    ')}"
