"""``qrt bench``: how long the kernels take on this machine, shape by shape.

``--coverage`` measures nothing: it says which ISA's kernel each ISA runs.

The shapes are those of ``qrt.cases`` that are worth a measurement. A line is the median of repeated calls through the
public functions, into a result that exists already, with weights packed beforehand.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from math import prod
from statistics import median
from time import perf_counter

import numpy as np

import qrt.cases as cases
import qrt.kernels as kernels
from qrt._version import __version__
from qrt.cli.options import add_kernel_choice, chosen_kernels, duration
from qrt.errors import ModelError, shown
from qrt.ops.window import output_size
from qrt.tensor import QuantTensor
from qrt.tensor.casts import dcast, qcast
from qrt.tensor.products import conv2d, depthwise_conv2d, matmul, pack
from qrt.types import UniformType

LARGEST_CAST = 1 << 20  # elements: larger ones measure the memory alone
X = UniformType("u8", "f32", 0.02, 121)
OUT = UniformType("u8", "f32", 0.1, 118)

Call = Callable[[], object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
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
    """A named case; ``prepare`` makes its data and returns the call. ``work``: operations, or bytes moved."""

    name: str
    work: int
    unit: str
    prepare: Callable[[], Call]


def workloads() -> Iterator[Workload]:
    """Matrix products, convolutions, depthwise convolutions and casts, in the order of the table of shapes.

    >>> next(workloads()).name
    'gemm_512x512x512'
    """
    for gemm in cases.GEMMS:
        if gemm.timed:
            yield _gemm(gemm)
    for conv in (*cases.CONVS, *cases.DEPTHWISE):
        if conv.timed and (isinstance(conv, cases.DepthwiseCase) or conv.groups == 1):
            yield _conv(conv)
    for cast in cases.CASTS:
        if cast.timed and prod(cast.shape) <= LARGEST_CAST:
            yield from (_cast("qcast", cast), _cast("dcast", cast))


def _gemm(case: cases.GemmCase) -> Workload:
    return Workload(f"gemm_{case.name}", case.operations, "GOP/s", partial(_matmul, case))


def _conv(case: cases.ConvCase) -> Workload:
    kind = "depthwise" if isinstance(case, cases.DepthwiseCase) else "conv"
    return Workload(f"{kind}_{case.name}", _operations(case), "GOP/s", partial(_convolution, case))


def _cast(kind: str, case: cases.CastCase) -> Workload:
    prepare = _qcast if kind == "qcast" else _dcast
    return Workload(f"{kind}_{case.name}", 5 * prod(case.shape), "GB/s", partial(prepare, case))


def workload_of(text: str) -> Workload:
    """The case of a shape. Raises ModelError where the text is none.

    >>> workload_of("gemm:1x4096x11008").name
    'gemm_1x4096x11008'
    """
    kind, _, shape = text.partition(":")
    match kind:
        case "gemm" if (gemm := cases.gemm_case(shape)) is not None:
            return _gemm(gemm)
        case "conv" if (conv := cases.conv_case(shape)) is not None:
            return _conv(conv)
        case "depthwise" if (conv := cases.conv_case(shape, cases.DepthwiseCase)) is not None:
            return _conv(conv)
        case "qcast" | "dcast" if (cast := cases.cast_case(shape)) is not None:
            return _cast(kind, cast)
    raise ModelError(
        "--shape takes gemm:MxKxN, conv:KHxKW_HxWxC-O, depthwise:KHxKW_HxWxC-C, qcast:SIZES_layer or "
        f"dcast:SIZES_layer, not {shown(text)}; `qrt bench --list` shows more spellings"
    )


def _operations(case: cases.ConvCase) -> int:
    """Two per multiply-add."""
    sizes = zip(case.size, case.kernel, case.padding, case.strides, case.dilations, strict=True)
    out = [output_size("bench", *each) or 0 for each in sizes]
    return 2 * case.images * prod(out) * case.out_channels * prod(case.kernel) * case.channels // case.groups


def _tensor(shape: tuple[int, ...], t: UniformType) -> QuantTensor:
    dtype = np.dtype(np.int8 if t.is_signed else np.uint8)
    limits = np.iinfo(dtype)
    return QuantTensor(np.random.default_rng(0).integers(limits.min, limits.max + 1, shape, dtype), t)


def _weights(count: int, axis: int) -> UniformType:
    return UniformType("i8", "f32", [0.005 + 0.01 * i / count for i in range(count)], axis=axis)


def _matmul(case: cases.GemmCase) -> Call:
    a, w = _tensor(case.a_shape, X), pack(_tensor(case.w_shape, _weights(case.n, len(case.w_shape) - 1)))
    return partial(matmul, a, w, out_type=OUT, out=matmul(a, w, out_type=OUT))


def _convolution(case: cases.ConvCase) -> Call:
    is_depthwise = isinstance(case, cases.DepthwiseCase)
    function, axis = (depthwise_conv2d, 2) if is_depthwise else (partial(conv2d, groups=case.groups), 0)
    x, w = _tensor(case.x_shape, X), pack(_tensor(case.w_shape, _weights(case.out_channels, axis)))
    call = partial(function, x, w, out_type=OUT, strides=case.strides, padding=case.padding, dilations=case.dilations)
    return partial(call, out=call())


def _cast_type(case: cases.CastCase) -> UniformType:
    return UniformType("i8", "f32", 0.02, 3) if case.axis is None else _weights(case.shape[case.axis], case.axis)


def _qcast(case: cases.CastCase) -> Call:
    t, x = _cast_type(case), np.random.default_rng(0).standard_normal(case.shape, np.float32)
    return partial(qcast, x, t, out=qcast(x, t))


def _dcast(case: cases.CastCase) -> Call:
    q = _tensor(case.shape, _cast_type(case))
    return partial(dcast, q, out=dcast(q))


def measure(call: Call, budget: float) -> float:
    """Seconds of one call: the median of nine samples that share ``budget`` seconds."""
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
    """A line for each row of the kernel table, a column for each ISA of this build: ``own``, or whose kernel it runs;
    ``-`` where there is none.
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
"""Goes up when a member of the JSON changes its meaning or goes away."""


def _print_json(**members: object) -> None:
    print(json.dumps({"version": JSON_VERSION, "qrt": __version__, **members}, indent=2))


def run(options: argparse.Namespace) -> None:
    """Runs the command. Raises ModelError where no case has such a name."""
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
        raise ModelError(f"no case is named {options.case!r}; there are {names}")
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
        raise ModelError(f"{workload.name} needs more memory than there is") from None
