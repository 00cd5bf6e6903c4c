"""Targets: devices, described by the kernels that they have (docs/reference/targets.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import ClassVar

from qrt.errors import ModelError, QuantError, QuantTypeError, require, shown
from qrt.files import read_text
from qrt.ops.declare import Constraint
from qrt.quantization.targets.kernel import (
    CONSTRAINTS,
    WILDCARD,
    Changed,
    FusionPattern,
    QuantFn,
    Spec,
    TargetKernel,
    TargetPort,
)
from qrt.quantization.targets.legalization import Legalize, Rewrite
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


_A_CONSTRAINT = "a name, a function or a sequence of these"


@dataclass(frozen=True)
class Target:
    """A device, described by its kernels.

    Parameters
    ----------
    name : str
        The name by which options of passes refer to the target.
    kernels : tuple of TargetKernel
        The signatures of all kernels. If several signatures of a kernel fit a region, the first one is used.
    coarser_bias : bool, default False
        A bias has the scale ``sa * sw``, the product of the factors' scales. If it overflows its storage at this scale,
        True multiplies the scale of the bias by a power of two, and False multiplies the scale of the channel's
        weights.
    rescale_cost : float, default 2.0
        The bits of precision that may be lost to avoid a rescale. The definition and the use of a value get one type if
        this multiplies the range of both by at most ``2 ** rescale_cost``; otherwise a rescale is inserted.
    rewrites : tuple of callable, optional
        Rewrite patterns that export applies to the exported operations until none matches, such as one that replaces
        ``qrt.requantize`` by an operation of the target.

    Examples
    --------
    >>> pool = TargetKernel("pool", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same_scale")
    >>> len(Target("mine", (pool,)).signatures("pool"))
    1
    """

    name: str
    kernels: tuple[TargetKernel, ...]
    coarser_bias: bool = False
    rescale_cost: float = 2.0
    rewrites: tuple[Rewrite, ...] = ()
    _is_sealed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.rescale_cost >= 0:
            raise QuantTypeError(f"rescale_cost must be a non-negative number of bits, got {shown(self.rescale_cost)}")

    @classmethod
    def load(cls, file: str | PathLike[str]) -> "Target":
        """Read a target from a file (docs/reference/targets.md).

        Parameters
        ----------
        file : str or PathLike
            The path of a TOML file.

        Returns
        -------
        Target
            A new target at each call, so that the method ``kernel`` changes only this one.

        Raises
        ------
        ModelError
            If the file does not describe a target; the message names the table and the key.
        FileError
            If the file cannot be read.
        QuantTypeError
            If ``file`` is not a path.

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
        constraint: Constraint | QuantFn | Sequence[Constraint | QuantFn] = "free",
        constrained: Sequence[str] = (),
        multiplier: tuple[float, float] = (0.0, float("inf")),
        default: Mapping[str, str] | None = None,
        pattern: str | FusionPattern | None = None,
        legalize: Legalize | None = None,
    ) -> None:
        """Add a kernel to this target, after its other kernels.

        The arguments correspond to the keys of a ``[[kernel]]`` table in TOML, and ports are written as there. The
        export ``fixed`` replaces a region of this kernel by the operations that ``legalize`` inserts, or by the
        operation that has the kernel's name. If there is neither, the region's body is exported as integer arithmetic.
        To make a region of each call of a function, give the function the attribute ``quant.kernel = "mine.gate"``.

        Parameters
        ----------
        name : str
            The name of the kernel in attributes of regions and functions.
        ports : mapping of str to str
            The storage of each port, by the port's name, in order. If it is a list of texts, there is one signature for
            each text.
        outputs : sequence of str, default ("y",)
            The names of the result ports, in order. All other ports are operands.
        constraint : str, callable, or sequence of these, default "free"
            The name of a constraint, or a function of the lists of input and output types, which writes types into them
            and returns two lists: the indices of the inputs and of the outputs that it changed. If there are several
            constraints, all must hold.
        constrained : sequence of str, optional
            The names of the ports to which the constraint applies; all ports if empty.
        multiplier : tuple of float, default (0.0, inf)
            The least and the greatest multiplier, which is a product of operands' scales over the result's scale.
        default : mapping of str to str, optional
            For ports with ``*``, by port name: the storage to use if nothing else determines their type.
        pattern : str or callable, optional
            The float operations that fusion wraps in a region of this kernel. A text is the name of a kernel of qrt
            that computes the same operations. A function takes a value, and returns None or a ``KernelMatch`` with the
            operations that compute the value. By default, the operations are those of the kernel of qrt that has this
            name.
        legalize : callable, optional
            A function that takes a ``RegionCall``, inserts operations with its ``builder``, and returns the results.

        Raises
        ------
        QuantTypeError
            If the arguments do not describe a kernel; the message names the port.
        QuantError
            If the target is part of qrt, because every program shares it.

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
        if not callable(constraint):
            require(constraint, (str, Sequence), f"Target.kernel: {shown(name)}: constraint", _A_CONSTRAINT)
        constraints = (constraint,) if callable(constraint) or isinstance(constraint, str) else tuple(constraint)
        table = {
            "name": name,
            "ports": {key: [*text] if isinstance(text, tuple) else text for key, text in ports.items()},
            "outputs": [*outputs],
            "constrained": [*constrained],
            "multiplier": [*multiplier],
            "default": dict(default or {}),
            **({"pattern": pattern} if isinstance(pattern, str) else {}),
        }
        try:
            added = signatures(table, f"Target.kernel: {shown(name)}", constraints)
        except ModelError as error:
            raise QuantTypeError(str(error)) from None
        added = [replace(kernel, pattern=pattern, legalize=legalize) for kernel in added]
        object.__setattr__(self, "kernels", (*self.kernels, *added))
        self.__dict__.pop("_by_name", None)

    def signatures(self, kernel: str) -> Sequence[TargetKernel]:
        """Return the signatures of a kernel, in the order of the target; an empty sequence for an unknown kernel."""
        return self._by_name.get(kernel, ())

    @property
    def max_widening(self) -> Fraction:
        """The greatest factor by which the range of a port may be widened to avoid a rescale: ``2 ** rescale_cost``."""
        return Fraction(2.0 ** min(self.rescale_cost, 1000.0))

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[TargetKernel]]:
        by_name: dict[str, list[TargetKernel]] = {}
        for kernel in self.kernels:
            by_name.setdefault(kernel.name, []).append(kernel)
        return by_name


def read_target(text: str, where: str, name: str) -> Target:
    """Parse a target in TOML. ``where`` is the prefix of messages; ``name`` is used if the text has no name.

    Raises ModelError that names the table, the key and the accepted values.

    >>> text = '[[kernel]]\\nname = "pool"\\nconstraint = "same_scale"\\nports = {x = "i8", y = "i8"}'
    >>> read_target(text, "mine.toml", "mine").kernels[0].outputs[0].name
    'y'
    """
    own_name, kernels, options = read_table(text, where)
    return Target(own_name or name, kernels, **options)


def sealed(target: Target) -> Target:
    """Mark a target as part of qrt, so that no kernel can be added to it. Return the target."""
    object.__setattr__(target, "_is_sealed", True)
    return target
