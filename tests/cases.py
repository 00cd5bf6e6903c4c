"""The shapes over which kernels trip, for the tests of ops and of lowerings. None is large.

A case says shapes alone: tests draw the types. The comment of a case names its hazard. Those of products, convolutions
and casts have the classes of ``qrt bench``.

>>> [case.name for case in POOLS]
['3x2s1p1201_5x4x3', '3x3s1p1111_1x1x1', '2x2s2_4x4x2', '2x2s2_4x4x0', '3x3s2_9x9x17']
"""

from dataclasses import dataclass
from typing import Any, Final

from qrt.cli.bench import CastCase, ConvCase, DepthwiseCase, GemmCase, Pair, Shape


@dataclass(frozen=True, slots=True)
class PoolCase:
    """NHWC input of ``shape`` under a sliding ``kernel``."""

    shape: tuple[int, int, int, int]
    kernel: Pair
    strides: Pair
    padding: tuple[Pair, Pair] = ((0, 0), (0, 0))

    @property
    def name(self) -> str:
        steps = f"s{self.strides[0]}" if self.strides != self.kernel or self.strides == (2, 2) else ""
        padding = "p" + "".join(str(p) for both in self.padding for p in both) if any(map(any, self.padding)) else ""
        return f"{self.kernel[0]}x{self.kernel[1]}{steps}{padding}_{'x'.join(map(str, self.shape[1:]))}"

    @property
    def attributes(self) -> dict[str, object]:
        return {"kernel": self.kernel, "strides": self.strides, "padding": self.padding}


@dataclass(frozen=True, slots=True)
class MeanCase:
    """An array of ``shape`` averaged over ``axes``."""

    shape: Shape
    axes: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape)) or 'scalar'}_over{''.join(map(str, self.axes)) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class SoftmaxCase:
    """An array of ``shape``, its sums along ``axis``."""

    shape: Shape
    axis: int = -1

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape))}_axis{self.axis}"


@dataclass(frozen=True, slots=True)
class PadCase:
    """An array of ``shape`` with constants around it."""

    shape: Shape
    padding: tuple[Pair, ...]

    @property
    def name(self) -> str:
        sides = "_".join(f"{before}{after}" for before, after in self.padding)
        return f"{'x'.join(map(str, self.shape)) or 'scalar'}_p{sides}"


@dataclass(frozen=True, slots=True)
class BinaryCase:
    """Two shapes that broadcast."""

    a: Shape
    b: Shape

    @property
    def name(self) -> str:
        return "+".join("x".join(map(str, shape)) or "scalar" for shape in (self.a, self.b))


_SAME = ((1, 1), (1, 1))

GEMMS: Final = (
    GemmCase(1, 1, 1),
    GemmCase(0, 3, 5),  # no rows, no columns, and an empty sum, which is the bias alone
    GemmCase(3, 0, 5),
    GemmCase(3, 5, 0),
    GemmCase(7, 3, 17),  # tails on every side of every register block
    GemmCase(33, 65, 49),
    GemmCase(5, 33_000, 3),  # full-range products of 8 bits leave 32 bits
    GemmCase(3, 5, 7, batch=4),
    GemmCase(1, 64, 16, batch=3),
)

CONVS: Final = (
    ConvCase((1, 1), 1, 1, (1, 1)),
    ConvCase((5, 7), 3, 5, (3, 2), strides=(2, 3), padding=((0, 1), (2, 0))),  # nothing symmetric
    ConvCase((9, 8), 4, 6, (3, 3), dilations=(2, 3), padding=((2, 2), (3, 3)), groups=2),
    ConvCase((6, 6), 4, 8, (3, 3), padding=_SAME, groups=4),  # two outputs per group
    ConvCase((2, 2), 3, 4, (5, 5), padding=((2, 2), (2, 2))),  # a window larger than the image
    ConvCase((3, 3), 2, 3, (1, 1), padding=((2, 2), (2, 2))),  # windows that see padding alone
    ConvCase((4, 4), 2, 3, (2, 2), images=0),
    ConvCase((4, 5), 3, 2, (2, 2), images=3),
)

DEPTHWISE: Final = (
    DepthwiseCase((1, 1), 1, 1, (1, 1)),
    DepthwiseCase((6, 5), 17, 17, (3, 3), padding=_SAME, groups=17),  # a vector and a tail of channels
    DepthwiseCase((5, 7), 3, 9, (3, 2), strides=(2, 3), padding=((0, 1), (2, 0)), groups=3),  # nothing symmetric
    DepthwiseCase((9, 8), 4, 8, (3, 3), dilations=(2, 3), padding=((2, 2), (3, 3)), groups=4),
    DepthwiseCase((2, 2), 3, 3, (5, 5), padding=((2, 2), (2, 2)), groups=3),  # a window larger than the image
    DepthwiseCase((3, 3), 2, 2, (1, 1), padding=((2, 2), (2, 2)), groups=2),  # windows that see padding alone
    DepthwiseCase((2, 3), 2, 2, (3, 2), padding=((9, 0), (0, 9)), dilations=(3, 4), groups=2),  # and dilation skips
    DepthwiseCase((4, 4), 2, 4, (2, 2), groups=2, images=0),
    DepthwiseCase((4, 5), 3, 3, (2, 2), groups=3, images=3),
)

LOOKUPS: Final = (
    CastCase(()),
    CastCase((0,)),
    CastCase((67,)),  # a vector and a tail
    CastCase((2, 3, 5)),
)

CASTS: Final = (
    CastCase(()),
    CastCase((0,)),
    CastCase((3, 0)),
    CastCase((1,)),
    CastCase((67,)),  # a vector and a tail
    CastCase((5, 131), 1),
    CastCase((131, 5), 0),
    CastCase((2, 3, 5, 7), 2),  # parameters that change every 7 elements
    CastCase((1, 1, 9), 2),
)

POOLS: Final = (
    PoolCase((2, 5, 4, 3), (3, 2), (1, 2), ((1, 2), (0, 1))),  # windows of every size of overlap with the padding
    PoolCase((1, 1, 1, 1), (3, 3), (1, 1), ((1, 1), (1, 1))),
    PoolCase((0, 4, 4, 2), (2, 2), (2, 2)),
    PoolCase((1, 4, 4, 0), (2, 2), (2, 2)),
    PoolCase((1, 9, 9, 17), (3, 3), (2, 2)),
)

MEANS: Final = (
    MeanCase((), ()),
    MeanCase((3, 4), ()),  # every element its own mean
    MeanCase((5,), (0,)),
    MeanCase((2, 3, 4, 5), (0, 2)),  # summed and kept axes by turns
    MeanCase((2, 3, 4, 5), (1, 3)),
    MeanCase((2, 3, 4, 5), (0, 1, 2, 3)),
    MeanCase((3, 1, 67), (0, 1)),
    MeanCase((0, 3), (1,)),
    MeanCase((3, 0, 2), (0,)),
)

SOFTMAXES: Final = (
    SoftmaxCase((1,)),
    SoftmaxCase((5, 67)),  # a vector and a tail
    SoftmaxCase((3, 4, 5), 0),  # lines that lie across
    SoftmaxCase((3, 4, 5), 1),
    SoftmaxCase((0, 3)),
    SoftmaxCase((3, 0)),  # sums of nothing, for no element
)

PADS: Final = (
    PadCase((), ()),
    PadCase((3,), ((0, 0),)),
    PadCase((3,), ((2, 1),)),
    PadCase((2, 3), ((1, 0), (0, 2))),  # corners belong to one slab alone
    PadCase((2, 1, 3), ((1, 2), (3, 4), (5, 6))),
    PadCase((0, 3), ((2, 1), (0, 1))),  # nothing but padding
    PadCase((2, 0, 3), ((0, 0), (0, 0), (1, 1))),  # nothing at all
)

BINARIES: Final = (
    BinaryCase((), ()),
    BinaryCase((0,), (1,)),
    BinaryCase((5, 1), (1, 7)),
    BinaryCase((3, 1, 5), (4, 1)),
    BinaryCase((67,), ()),
    BinaryCase((2, 3, 0), (3, 1)),
)

CASES: Final[dict[str, tuple[Any, ...]]] = {
    "add": BINARIES,
    "avg_pool2d": POOLS,
    "clamp": CASTS,
    "conv2d": CONVS,
    "dcast": CASTS,
    "depthwise_conv2d": DEPTHWISE,
    "float_matmul": GEMMS,
    "lookup": LOOKUPS,
    "matmul": GEMMS,
    "max_pool2d": POOLS,
    "mean": MEANS,
    "mul": BINARIES,
    "pad": PADS,
    "qcast": CASTS,
    "requantize": CASTS,
    "softmax": SOFTMAXES,
    "sub": BINARIES,
}
"""The cases of each op family that has a kernel of its own."""
