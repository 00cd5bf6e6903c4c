"""The inputs and outputs of programs, by name and type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qrt.errors import ModelError, require, shown
from qrt.types import TensorType, Type


@dataclass(frozen=True)
class Port:
    """An input or an output of a program.

    ``name`` is its ``{qrt.name = "..."}`` attribute, or ``arg0``, ``result0`` and so on. ``type`` is a tensor type: of
    rank 0 for a scalar, of the memref's shape for a memref. ``in_place`` is True for a memref: the program reads and
    writes the caller's array. ``spelled`` is the argument's name in the program's text, such as ``%x``, or empty.
    """

    name: str
    type: TensorType
    in_place: bool = False
    spelled: str = field(default="", compare=False, repr=False)


def check_names(inputs: Mapping[str, Any], ports: Sequence[Port]) -> None:
    """Raise ModelError if a name in ``inputs`` is not the name of a program's input."""
    require(inputs, Mapping, "'inputs'", "a mapping of names to arrays")
    names = [port.name for port in ports]
    if unknown := set(inputs) - set(names):
        raise ModelError(f"no input is named {min(map(shown, unknown))}; the inputs are {', '.join(names) or 'none'}")


def in_order(inputs: Mapping[str, Any], ports: Sequence[Port]) -> list[Any]:
    """Return the values of ``inputs`` in the order of a program's inputs. Raise ModelError for wrong names."""
    check_names(inputs, ports)
    missing = [port for port in ports if port.name not in inputs]
    if missing:
        more = f", and so are {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ModelError(f"input {missing[0].name!r} ({brief(missing[0].type)}) is missing{more}")
    return [inputs[port.name] for port in ports]


def brief(t: Type) -> str:
    """Return a type's text for an error message, cut after 200 characters because a type may have many scales."""
    text = str(t)
    return text if len(text) <= 200 else f"{text[:200]}..."
