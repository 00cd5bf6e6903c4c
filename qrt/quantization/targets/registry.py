"""The registry of targets by name: targets of qrt, of users, of installed packages, and of files."""

from pathlib import Path
from typing import Any

from qrt.errors import ModelError, QuantError, require, shown
from qrt.plugins import load_plugin
from qrt.quantization.targets.model import Target, read_target, sealed
from qrt.registry import Registry


def _checked(name: str, target: Any) -> Target:
    require(target, Target, f"the target {name!r}", "a Target")
    checked: Target = target
    return checked


def _read(file: str) -> Target:
    """Read a target of qrt from a TOML file in the folder of this module."""
    path = Path(__file__).with_name(file)
    return sealed(read_target(path.read_text(), file, path.stem))


TARGETS: Registry[Target] = Registry(
    "target",
    {
        "bf16": "bf16.toml",
        "int16x8": "int16x8.toml",
        "int4-weights": "int4-weights.toml",
        "qrt-cpu": "qrt-cpu.toml",
        "tflite": "tflite.toml",
        "weight-only": "weight-only.toml",
    },
    group="qrt.targets",
    check=_checked,
    load=_read,
)
"""The targets by name."""


def find(name: str) -> Target:
    """Return the target with a name, or the target that a file describes.

    Parameters
    ----------
    name : str
        A target of qrt, a target that `register_target` registered, a target of an installed package, or the path of a
        file: ``.toml``, or ``.py`` with a Target named ``TARGET``.

    Returns
    -------
    Target

    Raises
    ------
    QuantError
        If no target has this name, or an installed package's target does not load.
    ModelError
        If the file does not describe a target; the message names the table and the key.
    QuantTypeError
        If ``name`` is not text.

    Examples
    --------
    >>> find("tflite").signatures("softmax")[0].outputs[0].given
    <UniformType !quant.uniform<i8:f32, 3.906250e-03:-128>>
    """
    require(name, str, "a target's name", "text")
    if name in TARGETS:
        return TARGETS[name]
    if name.endswith(".toml"):
        return Target.load(name)
    if name.endswith(".py"):
        return _defined_in(name)
    raise QuantError(f"{TARGETS.unknown(name)}; a path that ends in .toml or .py is read as a file")


def _defined_in(file: str) -> Target:
    """Import a Python file, at most once, and return its variable ``TARGET``."""
    target = getattr(load_plugin(file), "TARGET", None)
    if not isinstance(target, Target):
        raise ModelError(f"{file}: the file of a target defines TARGET, a Target, got {shown(target)}")
    return target


def known(target: str | Target) -> Target:
    """Return ``target``, or the target with this name or path; register it, so that passes find it by name."""
    if isinstance(target, str):
        target = find(target)
    require(target, Target, "target", "a name or a Target")
    if TARGETS.get(target.name) is not target:
        register_target(target)
    return target


def register_target(target: Target) -> None:
    """Register a target under its name.

    An installed package registers a target by an entry point in the group ``qrt.targets``, whose name is
    the target's name and whose value is a Target.

    Parameters
    ----------
    target : Target
        The target. If another target was registered under the same name, this one replaces it.

    Raises
    ------
    QuantError
        If the name is that of a target that is part of qrt, such as ``tflite``.
    QuantTypeError
        If ``target`` is not a Target.

    Examples
    --------
    >>> from qrt.quantization.targets import TargetKernel, TargetPort
    >>> pool = TargetKernel("pool", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same_scale")
    >>> register_target(Target("mine-npu", (pool,)))
    >>> find("mine-npu").kernels[0].constraint
    'same_scale'
    """
    require(target, Target, "register_target: target", "a Target")
    TARGETS.add(target.name, target, replaces=True)
