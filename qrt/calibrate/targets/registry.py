"""Targets by name: those of qrt, those that a program registers, those of installed packages, and files."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from qrt.calibrate.targets.model import Target, read_target, sealed
from qrt.errors import QuantError, require, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_FOLDER = Path(__file__).parent
OWN = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""The names of qrt's own targets, each a file beside this one."""
_registered: dict[str, Target] = {}


def find(name: str) -> Target:
    """The target of a name, or of a file.

    Parameters
    ----------
    name : str
        A target of qrt, one that :func:`register_target` was given, one of an installed package, or the path of a file
        that ends in ``.toml``.

    Returns
    -------
    Target

    Raises
    ------
    QuantError
        If there is none of this name, or a package's does not load.
    ModelError
        If the file does not describe a target; the message names the table and the key.
    QuantTypeError
        If ``name`` is no text.

    Examples
    --------
    >>> find("tflite").signatures("softmax")[0].outputs[0].given
    <UniformType !quant.uniform<i8:f32, 3.906250e-03:-128>>
    """
    require(name, str, "a target's name", "text")
    if name in _registered:
        return _registered[name]
    if name in OWN:
        return _own(name)
    if name.endswith(".toml"):
        return Target.load(name)
    if name in _entry_points():
        entry = _entry_points()[name]
        try:
            found = entry.load()
            require(found, Target, "what it names", "a Target")
        except Exception as error:  # a package of somebody else's may raise anything
            raise QuantError(f"the target {shown(name)} of {entry.value} does not load: {error}") from error
        return _registered.setdefault(name, found)
    raise QuantError(
        f"there is no target {shown(name)}: qrt has {', '.join(names())}, and reads a path that ends in .toml"
    )


def known(target: str | Target) -> Target:
    """The target of a name, or of a file, or one that is given, when passes find it by its name."""
    if isinstance(target, str):
        target = find(target)
    require(target, Target, "target", "a name or a Target")
    if target.name not in names() or find(target.name) is not target:
        register_target(target)
    return target


def register_target(target: Target) -> None:
    """Makes a target known by its name. An installed package does the same by an entry point of the group
    ``qrt.targets``, whose name is the target's and whose value is a Target.

    Parameters
    ----------
    target : Target
        A device. One of the same name that was registered before is replaced.

    Raises
    ------
    QuantError
        If qrt has a target of this name.
    QuantTypeError
        If it is no Target.

    Examples
    --------
    >>> from qrt.targets import Kernel, Port
    >>> pool = Kernel("pool", (Port("x", "i8"),), (Port("y", "i8"),), "same_scale")
    >>> register_target(Target("mine-npu", (pool,)))
    >>> find("mine-npu").kernels[0].constraint
    'same_scale'
    """
    require(target, Target, "register_target: target", "a Target")
    if target.name in OWN:
        raise QuantError(f"there is a target {shown(target.name)} already")
    _registered[target.name] = target


def names() -> tuple[str, ...]:
    """The names of all targets, those from outside last."""
    return tuple(dict.fromkeys((*OWN, *_registered, *_entry_points())))


@cache
def _own(name: str) -> Target:
    file = f"{name}.toml"
    return sealed(read_target((_FOLDER / file).read_text(), file, name))


@cache
def _entry_points() -> "dict[str, EntryPoint]":
    """The targets of installed packages."""
    from importlib.metadata import entry_points  # here: it takes longer to import than the rest of this package

    return {entry.name: entry for entry in entry_points(group="qrt.targets")}
