"""A target: the kernels that a device has (docs/reference/targets.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import ClassVar

from qrt.errors import ModelError, QuantError, QuantTypeError, require, shown
from qrt.files import read_text
from qrt.quantization.targets.kernel import (
    CONSTRAINTS,
    WILDCARD,
    Changed,
    Constraint,
    QuantFn,
    Spec,
    TargetKernel,
    TargetPort,
)
from qrt.quantization.targets.text import read_table, signatures

__all__ = [
    "CONSTRAINTS",
    "WILDCARD",
    "Changed",
    "Constraint",
    "QuantFn",
    "Spec",
    "Target",
    "TargetKernel",
    "TargetPort",
]


@dataclass(frozen=True)
class Target:
    """A device.

    Parameters
    ----------
    name : str
        What options of passes call it.
    kernels : tuple of TargetKernel
        The signatures. The first of a name that fits is taken.
    coarser_bias : bool, default False
        True where a bias that passes its storage at scale ``sa * sw`` may take that scale times a power of two; False
        where the scale of its channel's weights grows.

    Examples
    --------
    >>> pool = TargetKernel("pool", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same_scale")
    >>> len(Target("mine", (pool,)).signatures("pool"))
    1
    """

    name: str
    kernels: tuple[TargetKernel, ...]
    coarser_bias: bool = False
    _is_sealed: ClassVar[bool] = False

    @classmethod
    def load(cls, file: str | PathLike[str]) -> "Target":
        """Reads a target from a file (docs/reference/targets.md).

        Parameters
        ----------
        file : str or PathLike
            The path of a TOML file.

        Returns
        -------
        Target
            A target of its own each time: ``kernel`` changes no other.

        Raises
        ------
        ModelError
            If the file does not describe a target; the message names the table and the key.
        FileError
            If the file cannot be read.
        QuantTypeError
            If ``file`` is no path.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "npu.toml")
        ...     _ = file.write_text('[[kernel]]\\nname = "pool"\\nports = {x = "i8", y = "i8"}')
        ...     Target.load(file).name
        'npu'
        """
        require(file, (str, PathLike), "Target.load: file", "the path of a file")
        name = fspath(file)
        return read_target(read_text(name, streams=False), name, Path(name).stem)

    def kernel(
        self,
        name: str,
        ports: Mapping[str, str | Sequence[str]],
        *,
        outputs: Sequence[str] = ("y",),
        constraint: Constraint | QuantFn = "free",
        constrained: Sequence[str] = (),
        multiplier: tuple[float, float] = (0.0, float("inf")),
        default: Mapping[str, str] | None = None,
    ) -> None:
        """Adds a kernel to this target, after those that it has.

        Arguments say what the keys of a ``[[kernel]]`` table do, and ports are the same texts. A kernel that is no op
        of qrt is marked in the program: each call of a function with ``quant.kernel = "mine.gate"`` becomes one, and
        its body is exported as integer arithmetic.

        Parameters
        ----------
        name : str
            What regions and functions call it.
        ports : mapping of str to str
            The storage of each port by its name, in order; a list of texts stands for one signature per text.
        outputs : sequence of str, default ("y",)
            The names of the ports that are results, in order. All others are operands.
        constraint : str or callable, default "free"
            A constraint by its name, or a function of the lists of input and output types, which writes types into
            them and returns the numbers of those it changed.
        constrained : sequence of str, optional
            The names of the ports that the constraint relates; all ports if empty.
        multiplier : tuple of float, default (0.0, inf)
            The least and the greatest multiplier.
        default : mapping of str to str, optional
            What a port that is ``*`` stores where nobody decides it.

        Raises
        ------
        QuantTypeError
            If the arguments describe no kernel; the message names the port.
        QuantError
            If the target is built into qrt and cannot be changed.

        Examples
        --------
        >>> mine = Target("mine", ())
        >>> mine.kernel("mine.gate", ports={"a": "i8", "b": "i8", "y": "i8"}, constraint="same_scale")
        >>> [port.name for port in mine.signatures("mine.gate")[0].inputs]
        ['a', 'b']
        """
        if self._is_sealed:
            own = f"the target {shown(self.name)} is built into qrt and cannot be changed"
            raise QuantError(f"{own}: add the kernel to Target('mine', find({shown(self.name)}).kernels)")
        require(name, str, "Target.kernel: name", "text")
        require(ports, Mapping, "Target.kernel: ports", "texts by the names of ports")
        function = constraint if callable(constraint) else None
        table = {
            "name": name,
            "ports": {key: [*text] if isinstance(text, tuple) else text for key, text in ports.items()},
            "outputs": [*outputs],
            "constraint": "free" if callable(constraint) else constraint,
            "constrained": [*constrained],
            "multiplier": [*multiplier],
            "default": dict(default or {}),
        }
        try:
            added = signatures(table, f"Target.kernel: {shown(name)}", function)
        except ModelError as error:
            raise QuantTypeError(str(error)) from None
        object.__setattr__(self, "kernels", (*self.kernels, *added))
        self.__dict__.pop("_by_name", None)

    def signatures(self, kernel: str) -> Sequence[TargetKernel]:
        """The signatures of a kernel, in order; none where the target lacks it."""
        return self._by_name.get(kernel, ())

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[TargetKernel]]:
        found: dict[str, list[TargetKernel]] = {}
        for kernel in self.kernels:
            found.setdefault(kernel.name, []).append(kernel)
        return found


def read_target(text: str, where: str, name: str) -> Target:
    """The target of a TOML text. ``where`` stands before messages; ``name`` is the target's if the text says none.

    Raises ModelError with the table, the key and what it may be.

    >>> text = '[[kernel]]\\nname = "pool"\\nconstraint = "same_scale"\\nports = {x = "i8", y = "i8"}'
    >>> read_target(text, "mine.toml", "mine").kernels[0].outputs[0].name
    'y'
    """
    said, kernels, coarser_bias = read_table(text, where)
    return Target(said or name, kernels, coarser_bias)


def sealed(target: Target) -> Target:
    """A target to which no kernel is added."""
    object.__setattr__(target, "_is_sealed", True)
    return target
