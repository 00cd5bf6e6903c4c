"""``qrt bench``: time of kernels on this machine, for a list of shapes from neural networks.

With ``--coverage``, nothing is measured. A table shows which implementation of each kernel an instruction set (ISA)
uses.

Each time is the median of repeated calls of a public function, with a preallocated result and prepacked weights.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from math import prod
from statistics import median
from time import perf_counter

import numpy as np

import qrt.kernels as kernels
from qrt._version import __version__
from qrt.cli.options import add_kernel_choice, chosen_kernels, duration
from qrt.errors import ModelError, shown
from qrt.ops.window import output_size
from qrt.tensor import QuantTensor
from qrt.tensor.casts import dcast, qcast
from qrt.tensor.products import conv2d, depthwise_conv2d, matmul, pack
from qrt.types import UniformType

X = UniformType("u8", "f32", 0.02, 121)
OUT = UniformType("u8", "f32", 0.1, 118)

Call = Callable[[], object]
Pair = tuple[int, int]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GemmCase:
    """A matrix product ``[m, k] @ [k, n]``, or a batch of ``batch`` such products if that is above 1."""

    m: int
    k: int
    n: int
    batch: int = 1

    @property
    def name(self) -> str:
        return f"{f'{self.batch}x' if self.batch > 1 else ''}{self.m}x{self.k}x{self.n}"

    @property
    def operations(self) -> int:
        """Number of operations; a multiply-add counts as two."""
        return 2 * self.batch * self.m * self.k * self.n

    @property
    def a_shape(self) -> Shape:
        return (self.batch, self.m, self.k) if self.batch > 1 else (self.m, self.k)

    @property
    def w_shape(self) -> Shape:
        return (self.batch, self.k, self.n) if self.batch > 1 else (self.k, self.n)


@dataclass(frozen=True, slots=True)
class ConvCase:
    """A 2-D convolution of an NHWC input of ``size`` (H, W), with a ``kernel`` (KH, KW) and ``padding`` for H and W."""

    size: Pair
    channels: int
    out_channels: int
    kernel: Pair
    strides: Pair = (1, 1)
    padding: tuple[Pair, Pair] = ((0, 0), (0, 0))
    dilations: Pair = (1, 1)
    groups: int = 1
    images: int = 1

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
    """A depthwise 2-D convolution; its weights have the shape [KH, KW, out_channels]."""

    __slots__ = ()

    @property
    def w_shape(self) -> Shape:
        return (*self.kernel, self.out_channels)

    @property
    def attributes(self) -> dict[str, object]:
        return {"strides": self.strides, "padding": self.padding, "dilations": self.dilations}


@dataclass(frozen=True, slots=True)
class CastCase:
    """A cast of an array of ``shape``, with one scale for each index of ``axis``, or a single scale for None."""

    shape: Shape
    axis: int | None = None

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape)) or 'scalar'}_{'layer' if self.axis is None else f'axis{self.axis}'}"


_SAME = ((1, 1), (1, 1))
GEMMS = (
    GemmCase(512, 512, 512),
    GemmCase(1024, 1024, 1024),
    GemmCase(128, 768, 3072),
    GemmCase(256, 4096, 4096),
    GemmCase(1, 1024, 1024),
    GemmCase(16, 768, 768),
    GemmCase(127, 129, 65),
    GemmCase(4, 4, 4),
)
CONVS = (
    ConvCase((56, 56), 64, 64, (3, 3), padding=_SAME),
    ConvCase((14, 14), 256, 256, (3, 3), padding=_SAME),
    ConvCase((112, 112), 32, 64, (1, 1)),
    ConvCase((224, 224), 3, 32, (3, 3), strides=(2, 2), padding=_SAME),
)
DEPTHWISE = (
    DepthwiseCase((112, 112), 32, 32, (3, 3), padding=_SAME, groups=32),
    DepthwiseCase((14, 14), 512, 512, (3, 3), padding=_SAME, groups=512),
)
CASTS = (
    *(CastCase((size, size), axis) for size in (64, 1024) for axis in (None, 1, 0)),
    CastCase((16,)),
)
"""Casts as in networks. Larger casts would only measure the memory bandwidth."""

_SIZE = r"(\d{1,9})"
_GEMM = re.compile(rf"(?:{_SIZE}x)?{_SIZE}x{_SIZE}x{_SIZE}", re.ASCII)
_CONV = re.compile(
    rf"{_SIZE}x{_SIZE}(?:s{_SIZE}x{_SIZE})?(?:d{_SIZE}x{_SIZE})?(?:g{_SIZE})?(?:p(\d)(\d)(\d)(\d))?"
    rf"_(?:{_SIZE}x)?{_SIZE}x{_SIZE}x{_SIZE}-{_SIZE}",
    re.ASCII,
)
_CAST = re.compile(rf"(scalar|{_SIZE}(?:x{_SIZE})*)_(?:layer|axis(\d{{1,2}}))", re.ASCII)


def gemm_case(name: str) -> GemmCase | None:
    """Return the matrix product named ``4x64x32`` (m, k, n) or ``8x4x64x32`` (batch, m, k, n), else None."""
    match = _GEMM.fullmatch(name)
    if match is None:
        return None
    batch, m, k, n = (int(size or 1) for size in match.groups())
    return GemmCase(m, k, n, batch)


def conv_case(name: str, kind: type[ConvCase] = ConvCase) -> ConvCase | None:
    """Return the convolution with a name such as ``3x3s2x2p1111_56x56x64-128``; None for any other name.

    That is a kernel of 3x3, strides 2x2, padding 1 (top, bottom, left, right), an input of 56x56x64, and 128 output
    channels.
    """
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
    """Return the cast with a name such as ``128x768_layer`` or ``128x768_axis1``; None for any other name."""
    match = _CAST.fullmatch(name)
    if match is None:
        return None
    shape = () if match[1] == "scalar" else tuple(map(int, match[1].split("x")))
    axis = None if match[4] is None else int(match[4])
    return CastCase(shape, axis) if axis is None or axis < len(shape) else None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt bench` to its parser."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--case", default="*", metavar="PATTERN", help="names to measure, such as 'gemm*'")
    chosen.add_argument(
        "--shape",
        action="append",
        metavar="KIND:SHAPE",
        help="a case of its own, such as gemm:1x4096x11008; KIND and SHAPE are spelled as in the names of --list",
    )
    chosen.add_argument("--list", action="store_true", help="list the names of the cases")
    chosen.add_argument("--coverage", action="store_true", help="list which ISA's kernel each ISA runs, row by row")
    add_kernel_choice(parser)
    parser.add_argument("--seconds", type=duration, default=0.2, help="spent on each case (default 0.2)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.set_defaults(command=run)


@dataclass(frozen=True, slots=True)
class Workload:
    """A named benchmark; ``prepare`` creates its data and returns the call to measure.

    ``work`` is the number of operations, or of bytes moved, of one call. ``unit`` is the unit of ``work`` per
    nanosecond: "GOP/s" or "GB/s".
    """

    name: str
    work: int
    unit: str
    prepare: Callable[[], Call]


def workloads() -> Iterator[Workload]:
    """Yield all benchmarks: matrix products, convolutions, depthwise convolutions, and casts.

    >>> next(workloads()).name
    'gemm_512x512x512'
    """
    yield from map(_gemm, GEMMS)
    yield from map(_conv, (*CONVS, *DEPTHWISE))
    for cast in CASTS:
        yield from (_cast("qcast", cast), _cast("dcast", cast))


def _gemm(case: GemmCase) -> Workload:
    return Workload(f"gemm_{case.name}", case.operations, "GOP/s", partial(_matmul, case))


def _conv(case: ConvCase) -> Workload:
    kind = "depthwise" if isinstance(case, DepthwiseCase) else "conv"
    return Workload(f"{kind}_{case.name}", _operations(case), "GOP/s", partial(_convolution, case))


def _cast(kind: str, case: CastCase) -> Workload:
    prepare = _qcast if kind == "qcast" else _dcast
    return Workload(f"{kind}_{case.name}", 5 * prod(case.shape), "GB/s", partial(prepare, case))


def workload_of(text: str) -> Workload:
    """Return the benchmark for the value of ``--shape``, ``KIND:SHAPE``. Raise ModelError if the text is malformed.

    >>> workload_of("gemm:1x4096x11008").name
    'gemm_1x4096x11008'
    """
    kind, _, shape = text.partition(":")
    match kind:
        case "gemm" if (gemm := gemm_case(shape)) is not None:
            return _gemm(gemm)
        case "conv" if (conv := conv_case(shape)) is not None:
            return _conv(conv)
        case "depthwise" if (conv := conv_case(shape, DepthwiseCase)) is not None:
            return _conv(conv)
        case "qcast" | "dcast" if (cast := cast_case(shape)) is not None:
            return _cast(kind, cast)
    raise ModelError(
        "--shape takes gemm:MxKxN, conv:KHxKW_HxWxC-O, depthwise:KHxKW_HxWxC-C, qcast:SIZES_layer or "
        f"dcast:SIZES_layer, not {shown(text)}; `qrt bench --list` shows more spellings"
    )


def _operations(case: ConvCase) -> int:
    """Return the number of operations of a convolution; a multiply-add counts as two."""
    sizes = zip(case.size, case.kernel, case.padding, case.strides, case.dilations, strict=True)
    out = [output_size("bench", *dimension) or 0 for dimension in sizes]
    return 2 * case.images * prod(out) * case.out_channels * prod(case.kernel) * case.channels // case.groups


def _tensor(shape: tuple[int, ...], t: UniformType) -> QuantTensor:
    dtype = np.dtype(np.int8 if t.is_signed else np.uint8)
    limits = np.iinfo(dtype)
    return QuantTensor(np.random.default_rng(0).integers(limits.min, limits.max + 1, shape, dtype), t)


def _weights(count: int, axis: int) -> UniformType:
    return UniformType("i8", "f32", [0.005 + 0.01 * i / count for i in range(count)], axis=axis)


def _matmul(case: GemmCase) -> Call:
    a, w = _tensor(case.a_shape, X), pack(_tensor(case.w_shape, _weights(case.n, len(case.w_shape) - 1)))
    return partial(matmul, a, w, out_type=OUT, out=matmul(a, w, out_type=OUT))


def _convolution(case: ConvCase) -> Call:
    is_depthwise = isinstance(case, DepthwiseCase)
    function, axis = (depthwise_conv2d, 2) if is_depthwise else (partial(conv2d, groups=case.groups), 0)
    x, w = _tensor(case.x_shape, X), pack(_tensor(case.w_shape, _weights(case.out_channels, axis)))
    call = partial(function, x, w, out_type=OUT, strides=case.strides, padding=case.padding, dilations=case.dilations)
    return partial(call, out=call())


def _cast_type(case: CastCase) -> UniformType:
    return UniformType("i8", "f32", 0.02, 3) if case.axis is None else _weights(case.shape[case.axis], case.axis)


def _qcast(case: CastCase) -> Call:
    t, x = _cast_type(case), np.random.default_rng(0).standard_normal(case.shape, np.float32)
    return partial(qcast, x, t, out=qcast(x, t))


def _dcast(case: CastCase) -> Call:
    q = _tensor(case.shape, _cast_type(case))
    return partial(dcast, q, out=dcast(q))


def measure(call: Call, budget: float) -> float:
    """Return the seconds per call: the median of nine samples, which together take about ``budget`` seconds."""
    call()
    start = perf_counter()
    call()
    repeats = max(1, int(budget / 9 / max(perf_counter() - start, 1e-7)))
    samples = []
    for _ in range(9):
        start = perf_counter()
        for _ in range(repeats):
            call()
        samples.append((perf_counter() - start) / repeats)
    return median(samples)


def print_coverage() -> None:
    """Print a table with a row for each kernel and a column for each instruction set (ISA) in this build.

    A cell is ``own`` if the ISA has a version of the kernel. Otherwise it names the ISA whose version is used, or is
    ``-`` if there is none.
    """
    suppliers = kernels.coverage()
    lacking = ", ".join(isa for isa in suppliers if isa not in kernels.available())
    print(f"qrt {__version__}, not on this machine: {lacking or 'none'}")
    width = max(map(len, suppliers["ref"])) + 2
    print(f"{'':<{width}}" + "".join(f"{isa:<12}" for isa in suppliers).rstrip())
    for row in suppliers["ref"]:
        cells = ("own" if by[row] == isa else by[row] or "-" for isa, by in suppliers.items())
        print(f"{row:<{width}}" + "".join(f"{cell:<12}" for cell in cells).rstrip())


JSON_VERSION = 1
"""Version of the JSON output; it is increased when a member is removed or changes its meaning."""


def _print_json(**members: object) -> None:
    print(json.dumps({"version": JSON_VERSION, "qrt": __version__, **members}, indent=2))


def run(options: argparse.Namespace) -> None:
    """Run `qrt bench`. Raise ModelError if ``--case`` or ``--shape`` matches no benchmark."""
    if options.coverage:
        if options.json:
            _print_json(coverage=kernels.coverage())
        else:
            print_coverage()
    elif options.list:
        names = [workload.name for workload in workloads()]
        if options.json:
            _print_json(cases=names)
        else:
            print("\n".join(names))
    else:
        with chosen_kernels(options):
            _measure_all(_chosen(options), options)


def _chosen(options: argparse.Namespace) -> list[Workload]:
    if options.shape:
        return [workload_of(text) for text in options.shape]
    chosen = [workload for workload in workloads() if fnmatch(workload.name, options.case)]
    if not chosen:
        names = ", ".join(workload.name for workload in workloads())
        raise ModelError(f"no case is named {options.case!r}; the cases are {names}")
    return chosen


def _measure_all(chosen: list[Workload], options: argparse.Namespace) -> None:
    if not options.json:
        print(f"qrt {__version__}, {kernels.active()}, threads: {kernels.get_num_threads()}")
    measured = []
    for workload in chosen:
        time = measure(_prepared(workload), options.seconds)
        rate = workload.work / time * 1e-9
        measured.append({"name": workload.name, "seconds": time, "rate": rate, "unit": workload.unit})
        if not options.json:
            print(f"{workload.name:<32} {time * 1e6:12.2f} us {rate:10.2f} {workload.unit}", flush=True)
    if options.json:
        _print_json(isa=kernels.active(), threads=kernels.get_num_threads(), cases=measured)


def _prepared(workload: Workload) -> Call:
    try:
        return workload.prepare()
    except MemoryError:
        raise ModelError(f"{workload.name} needs more memory than is available") from None
