"""The shapes that tests and benches share: what networks run, and what kernels trip over.

A case says shapes alone: tests draw the types, benches fix them. ``timed`` marks the cases worth a measurement; the
others are there for their hazard, which their comment names. Nothing here is large unless it is timed.

>>> max(GEMMS, key=lambda case: case.operations).name
'256x4096x4096'
>>> [case.name for case in POOLS if case.timed]
['2x2s2_112x112x64', '7x7_7x7x1024']
"""

import re
from dataclasses import dataclass
from typing import Any, Final

Pair = tuple[int, int]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GemmCase:
    """``[m, k] @ [k, n]``, for each of ``batch`` matrices (a batch of one is a plain matrix)."""

    m: int
    k: int
    n: int
    batch: int = 1
    timed: bool = False

    @property
    def name(self) -> str:
        return f"{f'{self.batch}x' if self.batch > 1 else ''}{self.m}x{self.k}x{self.n}"

    @property
    def operations(self) -> int:
        """Two per multiply-add."""
        return 2 * self.batch * self.m * self.k * self.n

    @property
    def a_shape(self) -> Shape:
        return (self.batch, self.m, self.k) if self.batch > 1 else (self.m, self.k)

    @property
    def w_shape(self) -> Shape:
        return (self.batch, self.k, self.n) if self.batch > 1 else (self.k, self.n)


@dataclass(frozen=True, slots=True)
class ConvCase:
    """NHWC input of ``size``, ``channels`` to ``out_channels`` through ``kernel``."""

    size: Pair
    channels: int
    out_channels: int
    kernel: Pair
    strides: Pair = (1, 1)
    padding: tuple[Pair, Pair] = ((0, 0), (0, 0))
    dilations: Pair = (1, 1)
    groups: int = 1
    images: int = 1
    timed: bool = False

    @property
    def name(self) -> str:
        extra = [f"s{self.strides[0]}x{self.strides[1]}"] if self.strides != (1, 1) else []
        extra += [f"d{self.dilations[0]}x{self.dilations[1]}"] if self.dilations != (1, 1) else []
        extra += [f"g{self.groups}"] if self.groups > 1 else []
        extra += ["p" + "".join(str(p) for both in self.padding for p in both)] if any(map(any, self.padding)) else []
        window = f"{self.kernel[0]}x{self.kernel[1]}{''.join(extra)}"
        images = f"{self.images}x" if self.images != 1 else ""
        return f"{window}_{images}{self.size[0]}x{self.size[1]}x{self.channels}-{self.out_channels}"

    @property
    def x_shape(self) -> Shape:
        return (self.images, *self.size, self.channels)

    @property
    def w_shape(self) -> Shape:
        return (self.out_channels, *self.kernel, self.channels // self.groups)

    @property
    def attributes(self) -> dict[str, object]:
        return {
            "strides": self.strides,
            "padding": self.padding,
            "dilations": self.dilations,
            "groups": self.groups,
        }


class DepthwiseCase(ConvCase):
    """A convolution whose groups are its channels, its weights [KH, KW, C * M]."""

    __slots__ = ()

    @property
    def w_shape(self) -> Shape:
        return (*self.kernel, self.out_channels)

    @property
    def attributes(self) -> dict[str, object]:
        return {"strides": self.strides, "padding": self.padding, "dilations": self.dilations}


@dataclass(frozen=True, slots=True)
class CastCase:
    """An array of ``shape``, its parameters along ``axis`` (None: per layer)."""

    shape: Shape
    axis: int | None = None
    timed: bool = False

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape)) or 'scalar'}_{'layer' if self.axis is None else f'axis{self.axis}'}"


# -- from names -------------------------------------------------------------------------------------------------------

_SIZE = r"(\d{1,9})"
_GEMM = re.compile(rf"(?:{_SIZE}x)?{_SIZE}x{_SIZE}x{_SIZE}", re.ASCII)
_CONV = re.compile(
    rf"{_SIZE}x{_SIZE}(?:s{_SIZE}x{_SIZE})?(?:d{_SIZE}x{_SIZE})?(?:g{_SIZE})?(?:p(\d)(\d)(\d)(\d))?"
    rf"_(?:{_SIZE}x)?{_SIZE}x{_SIZE}x{_SIZE}-{_SIZE}",
    re.ASCII,
)
_CAST = re.compile(rf"(scalar|{_SIZE}(?:x{_SIZE})*)_(?:layer|axis(\d{{1,2}}))", re.ASCII)


def gemm_case(name: str) -> GemmCase | None:
    """The case of a name such as ``4x64x32``, or ``8x4x64x32`` for a batch of 8; None where it is no such name."""
    match = _GEMM.fullmatch(name)
    if match is None:
        return None
    batch, m, k, n = (int(size or 1) for size in match.groups())
    return GemmCase(m, k, n, batch)


def conv_case(name: str, kind: type[ConvCase] = ConvCase) -> ConvCase | None:
    """The case of a name such as ``3x3s2x2p1111_56x56x64-128``; None where it is no such name."""
    match = _CONV.fullmatch(name)
    if match is None:
        return None
    kh, kw, sh, sw, dh, dw, groups, *rest = match.groups()
    top, bottom, left, right = (int(size or 0) for size in rest[:4])
    images, h, w, channels, out = (int(size or 1) for size in rest[4:])
    return kind(
        (h, w),
        channels,
        out,
        (int(kh), int(kw)),
        (int(sh or 1), int(sw or 1)),
        ((top, bottom), (left, right)),
        (int(dh or 1), int(dw or 1)),
        int(groups or (channels if kind is DepthwiseCase else 1)),
        images,
    )


def cast_case(name: str) -> CastCase | None:
    """The case of a name such as ``128x768_layer`` or ``128x768_axis1``; None where it is no such name."""
    match = _CAST.fullmatch(name)
    if match is None:
        return None
    shape = () if match[1] == "scalar" else tuple(map(int, match[1].split("x")))
    axis = None if match[4] is None else int(match[4])
    return CastCase(shape, axis) if axis is None or axis < len(shape) else None


@dataclass(frozen=True, slots=True)
class PoolCase:
    """NHWC input of ``shape`` under a sliding ``kernel``."""

    shape: tuple[int, int, int, int]
    kernel: Pair
    strides: Pair
    padding: tuple[Pair, Pair] = ((0, 0), (0, 0))
    timed: bool = False

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
    timed: bool = False

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape)) or 'scalar'}_over{''.join(map(str, self.axes)) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class SoftmaxCase:
    """An array of ``shape``, its sums along ``axis``."""

    shape: Shape
    axis: int = -1
    timed: bool = False

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape))}_axis{self.axis}"


@dataclass(frozen=True, slots=True)
class PadCase:
    """An array of ``shape`` with constants around it."""

    shape: Shape
    padding: tuple[Pair, ...]
    timed: bool = False

    @property
    def name(self) -> str:
        sides = "_".join(f"{before}{after}" for before, after in self.padding)
        return f"{'x'.join(map(str, self.shape)) or 'scalar'}_p{sides}"


@dataclass(frozen=True, slots=True)
class BinaryCase:
    """Two shapes that broadcast."""

    a: Shape
    b: Shape
    timed: bool = False

    @property
    def name(self) -> str:
        return "+".join("x".join(map(str, shape)) or "scalar" for shape in (self.a, self.b))


_SAME = ((1, 1), (1, 1))

GEMMS: Final = (
    GemmCase(512, 512, 512, timed=True),
    GemmCase(1024, 1024, 1024, timed=True),
    GemmCase(128, 768, 3072, timed=True),
    GemmCase(256, 4096, 4096, timed=True),
    GemmCase(1, 1024, 1024, timed=True),
    GemmCase(16, 768, 768, timed=True),
    GemmCase(127, 129, 65, timed=True),
    GemmCase(4, 4, 4, timed=True),
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
    ConvCase((56, 56), 64, 64, (3, 3), padding=_SAME, timed=True),
    ConvCase((14, 14), 256, 256, (3, 3), padding=_SAME, timed=True),
    ConvCase((112, 112), 32, 64, (1, 1), timed=True),
    ConvCase((224, 224), 3, 32, (3, 3), strides=(2, 2), padding=_SAME, timed=True),
    ConvCase((112, 112), 32, 32, (3, 3), padding=_SAME, groups=32, timed=True),
    ConvCase((14, 14), 512, 512, (3, 3), padding=_SAME, groups=512, timed=True),
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
    DepthwiseCase((112, 112), 32, 32, (3, 3), padding=_SAME, groups=32, timed=True),
    DepthwiseCase((14, 14), 512, 512, (3, 3), padding=_SAME, groups=512, timed=True),
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
    CastCase((56, 56, 64), timed=True),
    CastCase(()),
    CastCase((0,)),
    CastCase((67,)),  # a vector and a tail
    CastCase((2, 3, 5)),
)

CASTS: Final = (
    *(CastCase(shape, axis, timed=True) for shape in ((64, 64), (1024, 1024), (8192, 8192)) for axis in (None, 1, 0)),
    CastCase((16,), timed=True),
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
    PoolCase((1, 112, 112, 64), (2, 2), (2, 2), timed=True),
    PoolCase((1, 7, 7, 1024), (7, 7), (7, 7), timed=True),
    PoolCase((2, 5, 4, 3), (3, 2), (1, 2), ((1, 2), (0, 1))),  # windows of every size of overlap with the padding
    PoolCase((1, 1, 1, 1), (3, 3), (1, 1), ((1, 1), (1, 1))),
    PoolCase((0, 4, 4, 2), (2, 2), (2, 2)),
    PoolCase((1, 4, 4, 0), (2, 2), (2, 2)),
    PoolCase((1, 9, 9, 17), (3, 3), (2, 2)),
)

MEANS: Final = (
    MeanCase((1, 7, 7, 1024), (1, 2), timed=True),
    MeanCase((128, 768), (1,), timed=True),
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
    SoftmaxCase((12, 128, 128), timed=True),
    SoftmaxCase((1, 1000), timed=True),
    SoftmaxCase((1,)),
    SoftmaxCase((5, 67)),  # a vector and a tail
    SoftmaxCase((3, 4, 5), 0),  # lines that lie across
    SoftmaxCase((3, 4, 5), 1),
    SoftmaxCase((0, 3)),
    SoftmaxCase((3, 0)),  # sums of nothing, for no element
)

PADS: Final = (
    PadCase((1, 112, 112, 64), ((0, 0), (1, 1), (1, 1), (0, 0)), timed=True),
    PadCase((), ()),
    PadCase((3,), ((0, 0),)),
    PadCase((3,), ((2, 1),)),
    PadCase((2, 3), ((1, 0), (0, 2))),  # corners belong to one slab alone
    PadCase((2, 1, 3), ((1, 2), (3, 4), (5, 6))),
    PadCase((0, 3), ((2, 1), (0, 1))),  # nothing but padding
    PadCase((2, 0, 3), ((0, 0), (0, 0), (1, 1))),  # nothing at all
)

BINARIES: Final = (
    BinaryCase((56, 56, 64), (56, 56, 64), timed=True),
    BinaryCase((128, 3072), (3072,), timed=True),
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
