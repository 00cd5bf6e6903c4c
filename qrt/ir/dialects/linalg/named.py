"""Named `linalg` ops, whose name determines their indexing maps and body.

The tables of this module define maps and bodies. The parser, the printer, the verifier, the interpreter and the pass
`linalg-generalize-named-ops` use them. An entry lists the loops as letters, then the letters that index each input and
the output, as in `nwcx: n(wx)c x -> nwc`. `(wx)` is a window: `w` times the stride plus `x` times the dilation. Loops
that do not index the output, such as `x`, are reduced.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from qrt.errors import QuantTypeError, plural
from qrt.ir.builder import Builder
from qrt.ir.core.affine import AffineMapAttr, Expression, add, multiply, plain_loops
from qrt.ir.core.attribute_kinds import ARRAY, ENUMERATIONS, AttributeKind
from qrt.ir.core.attributes import ArrayAttr, Attribute
from qrt.ir.core.constraints import element_of
from qrt.ir.core.define import OPERAND_SEGMENTS, AttributeSpec, Definition, segments
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import NOWHERE, Operation, Region, Value
from qrt.ir.dialects.linalg.named_bodies import (
    CAST,
    CONTRACTION,
    COPY,
    ELEMENTWISE_KIND,
    FUNCTIONS,
    QUANTIZED,
    Build,
    build_body,
    elementwise,
    kind_name,
    pooling,
)
from qrt.ir.dialects.linalg.structure import (
    CANONICALIZE,
    CANONICALIZE_BUFFERS,
    MAPS,
    TRAITS,
    Maps,
    StructuredOp,
    array_of_maps,
    effects,
    parse_operands,
    parse_results,
    print_operands,
    print_results,
    rank_of,
    scalar_of,
    stated_maps,
    verify_structured,
)
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import IntegerType, MemRefType, TensorType, Type
from qrt.types.scanner import Location

_I64 = IntegerType(64)
_MEMOIZED = "linalg.memoized_indexing_maps"
_UNSIGNED = ENUMERATIONS["linalg.type_fn"].attribute("cast_unsigned")

_CONTRACTIONS = {
    "matmul": "mnk: mk kn -> mn",
    "batch_matmul": "bmnk: bmk bkn -> bmn",
    "batch_reduce_matmul": "bmnk: bmk bkn -> mn",
    "matvec": "mk: mk k -> m",
    "vecmat": "nk: k kn -> n",
    "batch_matvec": "bmk: bmk bk -> bm",
    "batch_vecmat": "bnk: bk bkn -> bn",
    "dot": "k: k k -> ",
    "mmt4d": "mnkxyz: mkxz nkyz -> mnxy",
    "batch_mmt4d": "bmnkxyz: bmkxz bnkyz -> bmnxy",
    "conv_1d": "wx: (wx) x -> w",
    "conv_2d": "hwyx: (hy)(wx) yx -> hw",
    "conv_3d": "dhwzyx: (dz)(hy)(wx) zyx -> dhw",
    "conv_1d_ncw_fcw": "nfwcx: nc(wx) fcx -> nfw",
    "conv_1d_nwc_wcf": "nwfxc: n(wx)c xcf -> nwf",
    "conv_2d_nchw_fchw": "nfhwcyx: nc(hy)(wx) fcyx -> nfhw",
    "conv_2d_ngchw_fgchw": "ngfhwcyx: ngc(hy)(wx) fgcyx -> ngfhw",
    "conv_2d_ngchw_gfchw": "ngfhwcyx: ngc(hy)(wx) gfcyx -> ngfhw",
    "conv_2d_nhwc_fhwc": "nhwfyxc: n(hy)(wx)c fyxc -> nhwf",
    "conv_2d_nhwc_hwcf": "nhwfyxc: n(hy)(wx)c yxcf -> nhwf",
    "conv_2d_nhwgc_gfhwc": "nhwgfyxc: n(hy)(wx)gc gfyxc -> nhwgf",
    "conv_3d_ncdhw_fcdhw": "nfdhwczyx: nc(dz)(hy)(wx) fczyx -> nfdhw",
    "conv_3d_ndhwc_dhwcf": "ndhwfzyxc: n(dz)(hy)(wx)c zyxcf -> ndhwf",
    "depthwise_conv_1d_ncw_cw": "nwcx: nc(wx) cx -> ncw",
    "depthwise_conv_1d_nwc_wc": "nwcx: n(wx)c xc -> nwc",
    "depthwise_conv_1d_nwc_wcm": "nwcmx: n(wx)c xcm -> nwcm",
    "depthwise_conv_2d_nchw_chw": "nhwcyx: nc(hy)(wx) cyx -> nchw",
    "depthwise_conv_2d_nhwc_hwc": "nhwcyx: n(hy)(wx)c yxc -> nhwc",
    "depthwise_conv_2d_nhwc_hwcm": "nhwcmyx: n(hy)(wx)c yxcm -> nhwcm",
    "depthwise_conv_3d_ncdhw_cdhw": "ndhwzyxc: nc(dz)(hy)(wx) czyx -> ncdhw",
    "depthwise_conv_3d_ndhwc_dhwc": "ndhwzyxc: n(dz)(hy)(wx)c zyxc -> ndhwc",
    "depthwise_conv_3d_ndhwc_dhwcm": "ndhwmzyxc: n(dz)(hy)(wx)c zyxcm -> ndhwcm",
}
_WITH_ZERO_POINTS = (
    "conv_2d_nchw_fchw",
    "conv_2d_ngchw_gfchw",
    "conv_2d_nhwc_fhwc",
    "conv_2d_nhwc_hwcf",
    "conv_2d_nhwgc_gfhwc",
    "conv_3d_ndhwc_dhwcf",
    "depthwise_conv_2d_nhwc_hwc",
    "depthwise_conv_2d_nhwc_hwcm",
)
"""The convolutions that also exist as `..._q`, with a zero point for each input."""
_POOLINGS = {
    "nchw": ("nchwyx: nc(hy)(wx) yx -> nchw", "sum max"),
    "ncw": ("ncwx: nc(wx) x -> ncw", "sum max"),
    "ndhwc": ("ndhwczyx: n(dz)(hy)(wx)c zyx -> ndhwc", "sum max min"),
    "nhwc": ("nhwcyx: n(hy)(wx)c yx -> nhwc", "sum max min max_unsigned min_unsigned"),
    "nwc": ("nwcx: n(wx)c x -> nwc", "sum max min max_unsigned min_unsigned"),
}
"""By layout: the loops, and the functions that reduce the windows."""
_FOLDED_WITH = {"sum": "add", "max": "max_signed", "min": "min_signed"}
_STATING_MAPS = ("linalg.matmul", "linalg.batch_matmul", "linalg.batch_reduce_matmul")
"""The ops that may have other maps, which transpose or broadcast their inputs."""
_UNSTRIDED = ("conv_1d", "conv_2d", "conv_3d")
_CASTING = ("matmul", "batch_matmul", "copy", "contract")
"""The ops whose attribute `cast` chooses signed or unsigned casts. `batch_reduce_matmul` has the attribute too, but
upstream ignores it there and builds signed casts."""


@dataclass(frozen=True)
class NamedOpDefinition:
    """Body and loops of a named op. If `loops` is empty, there is one parallel loop for each dimension of the output.

    `build` is None for `linalg.elementwise`, whose attribute `kind` selects the body.
    """

    build: Build | None
    loops: str = ""
    arity: int = 2
    unsigned: bool = False
    states_maps: bool = False
    windows: int = 0
    """The number of strides, and of dilations."""


def _zero_points(loops: str) -> str:
    head, _, output = loops.partition("->")
    return f"{head.rstrip()} . . ->{output}"


def _table() -> dict[str, NamedOpDefinition]:
    definitions: dict[str, NamedOpDefinition] = {}
    for name, loops in _CONTRACTIONS.items():
        windows = 0 if name in _UNSTRIDED else loops.count("(")
        definitions[name] = NamedOpDefinition(
            CONTRACTION, loops, states_maps=f"linalg.{name}" in _STATING_MAPS, windows=windows
        )
    for name in _WITH_ZERO_POINTS:
        loops = _CONTRACTIONS[name]
        definitions[f"{name}_q"] = NamedOpDefinition(QUANTIZED, _zero_points(loops), 4, windows=loops.count("("))
    for name in ("matmul", "batch_matmul"):
        definitions[f"quantized_{name}"] = NamedOpDefinition(QUANTIZED, _zero_points(_CONTRACTIONS[name]), 4)
    for layout, (loops, folds) in _POOLINGS.items():
        for fold in folds.split():
            build = pooling(_FOLDED_WITH.get(fold, fold))
            unsigned = fold.endswith("_unsigned")
            definitions[f"pooling_{layout}_{fold}"] = NamedOpDefinition(
                build, loops, unsigned=unsigned, windows=loops.count("(")
            )
    for function, arity in FUNCTIONS.items():
        if not function.endswith(("max_unsigned", "min_unsigned")):
            definitions[function.removesuffix("_signed")] = NamedOpDefinition(elementwise(function), arity=arity)
    definitions["fill"] = definitions["copy"] = NamedOpDefinition(COPY, arity=1)
    definitions["contract"] = NamedOpDefinition(CONTRACTION, states_maps=True)
    definitions["elementwise"] = NamedOpDefinition(None, states_maps=True)
    return {f"linalg.{name}": named for name, named in definitions.items()}


TABLE = _table()


@lru_cache(maxsize=256)
def _maps(loops: str, strides: tuple[int, ...], dilations: tuple[int, ...]) -> Maps:
    """Return the indexing maps for the text of an entry of the module's table; `.` in the text is a scalar operand.

    `strides` and `dilations` have one number for each window in the text.
    """
    order, _, rest = loops.partition(": ")
    window = dict(zip(re.findall(r"\((\w)\w\)", rest), zip(strides, dilations, strict=True), strict=True))
    inputs, _, output = rest.partition("->")
    maps = []
    for operand in (*inputs.split(), output.strip()):
        results: list[Expression] = []
        for outer, inner, plain in re.findall(r"\((\w)(\w)\)|(\w)", operand):
            if plain:
                results.append(("d", order.index(plain)))
            else:
                stride, dilation = window[outer]
                at, tap = (("d", order.index(loop)) for loop in (outer, inner))
                results.append(add(multiply(at, stride), multiply(tap, dilation)))
        maps.append(AffineMapAttr(len(order), 0, tuple(results)))
    return tuple(maps)


class NamedOp(StructuredOp):
    """Named `linalg` operation, whose name is a key of `TABLE`.

    `memoized` is the op's attribute `linalg.memoized_indexing_maps`, or None. Upstream prints it in generic form: it
    caches the maps that follow from the op's name.
    """

    __slots__ = ("memoized",)

    def __init__(self, *arguments: object, **keywords: object) -> None:
        super().__init__(*arguments, **keywords)  # type: ignore[arg-type]
        self.memoized = self.attributes.pop(_MEMOIZED, None) if _memoizes(self.name) else None

    @property
    def indexing_maps(self) -> Maps:
        named = TABLE[self.name]
        if named.states_maps:
            return stated_maps(self.attributes[MAPS])
        if named.loops:
            taps = named.loops.count("(")
            return _maps(named.loops, self._numbers("strides", taps), self._numbers("dilations", taps))
        rank = rank_of(self.operands[-1].type)
        scalar = AffineMapAttr(rank, 0, ())
        identity = AffineMapAttr.identity(rank)
        return tuple(identity if rank_of(value.type) else scalar for value in self.operands)

    def _numbers(self, name: str, count: int) -> tuple[int, ...]:
        stated = self.attributes.get(name)
        if not isinstance(stated, DenseElementsAttr) or not _counts(stated, count):
            return (1,) * count  # the op does not verify, but its maps may be asked for
        return tuple(stated.array.tolist())


def _counts(stated: DenseElementsAttr, count: int) -> bool:
    return stated.type.shape == (count,) and stated.type.element == _I64


def _memoizes(name: str) -> bool:
    """Return True if an op's name, strides and dilations determine its maps."""
    return bool(TABLE[name].loops) and not TABLE[name].states_maps


def _derived(operation: Operation) -> dict[str, Attribute]:
    """Return the attributes that upstream's verifier adds to the op, and that generic form therefore prints."""
    assert isinstance(operation, NamedOp)  # by its definition
    return {_MEMOIZED: ArrayAttr(operation.indexing_maps)} if _memoizes(operation.name) else {}


def default_maps(name: str, operands: int, rank: int) -> ArrayAttr:
    """Return the maps of an op without the attribute `indexing_maps`.

    `operands` is the number of operands, `rank` the rank of the output.
    """
    loops = TABLE[name].loops
    return ArrayAttr(_maps(loops, (), ()) if loops else (AffineMapAttr.identity(rank),) * operands)


def body_of(
    name: str, types: Sequence[Type], attributes: Mapping[str, Attribute], location: Location = NOWHERE
) -> Region:
    """Return the region of a named op with operands of these types.

    Raise QuantTypeError if the types do not support the body's operations.
    """
    named = TABLE[name]
    build = named.build or elementwise(kind_name(attributes["kind"]))
    unsigned = named.unsigned or (name.partition(".")[2] in _CASTING and attributes.get("cast") == _UNSIGNED)
    return build_body(build, [scalar_of(type) for type in types], unsigned, location)


def make_fill(builder: Builder, value: Value, output: Value) -> Value:
    """Build a `linalg.fill` of a tensor and return its result."""
    attributes: dict[str, Attribute] = {OPERAND_SEGMENTS: segments(1, 1)}
    region = body_of("linalg.fill", (value.type, output.type), attributes)
    return builder.emit("linalg.fill", (value, output), (output.type,), attributes, [region]).results[0]


# -- custom form: `indexing_maps = [...] {attributes} ins(...) outs(...) -> type` --------------------------------------


def _parse(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    named = TABLE[pending.name]
    if named.build is None:
        _expect_word(parser, "kind")
        start = scanner.skip()
        kind = pending.attributes["kind"] = parser.attribute()
        if not ELEMENTWISE_KIND.holds(kind):
            raise scanner.error("invalid kind of attribute specified", start, scanner.pos)
    if named.states_maps and (scanner.peek_word() == MAPS or pending.name == "linalg.contract"):
        _expect_word(parser, MAPS)
        pending.attributes[MAPS] = ARRAY.parse(parser)
    pending.attributes.update(parser.optional_attributes())
    inputs, outputs = parse_operands(parser, pending)
    parse_results(parser, pending)
    if named.states_maps and pending.operand_types:
        maps = default_maps(pending.name, inputs + outputs, rank_of(pending.operand_types[-1]))
        pending.attributes.setdefault(MAPS, maps)
    wanted = arity_of(pending.name, pending.attributes)
    if (inputs, outputs) != (wanted, 1):
        message = f"'{pending.name}' must have {plural(wanted, 'input')} and 1 output, got {inputs} and {outputs}"
        raise parser.error_at(pending, message)
    location = Location(parser.source, pending.start, pending.start + len(pending.name))
    try:
        pending.regions.append(body_of(pending.name, pending.operand_types, pending.attributes, location))
    except QuantTypeError as error:
        raise scanner.error(str(error), location.start, location.end) from None


def _expect_word(parser: FormParser, word: str) -> None:
    if not parser.scanner.accept_word(word):
        raise parser.scanner.error(f"expected '{word}'")
    parser.scanner.expect("=", f" after '{word}'")


def _print(printer: FormPrinter, operation: Operation) -> None:
    assert isinstance(operation, NamedOp)  # by its definition
    named = TABLE[operation.name]
    if named.build is None:
        printer.word(f"kind={operation.attributes['kind']}")
    if named.states_maps:
        maps = operation.attributes[MAPS]
        default = default_maps(operation.name, len(operation.operands), rank_of(operation.operands[-1].type))
        if operation.name == "linalg.contract" or maps != default:
            printer.word(f"{MAPS} = {maps}")
    elided = [OPERAND_SEGMENTS, MAPS, "kind"]
    if operation.name not in ("linalg.contract", "linalg.elementwise"):
        elided.append(_MEMOIZED)
    printer.attributes(operation, elided)
    print_operands(printer, operation)
    print_results(printer, operation)


# -- verification ----------------------------------------------------------------------------------------------------


def arity_of(name: str, attributes: Mapping[str, Attribute]) -> int:
    """Return the number of inputs of a named op."""
    named = TABLE[name]
    return named.arity if named.build is not None else FUNCTIONS[kind_name(attributes["kind"])]


def _verify(operation: Operation) -> None:
    assert isinstance(operation, NamedOp)  # by its definition
    wanted = arity_of(operation.name, operation.attributes)
    if len(operation.inputs) != wanted or len(operation.outputs) != 1:
        raise operation.op_error(
            f"must have {plural(wanted, 'input')} and 1 output, got {len(operation.inputs)} and "
            f"{len(operation.outputs)}"
        )
    for which in ("strides", "dilations"):
        numbers = operation.attributes.get(which)
        if isinstance(numbers, DenseElementsAttr) and int(numbers.array.min()) < 1:
            raise operation.op_error(f"attribute '{which}' must have values of 1 or more, got {numbers}")
    if operation.name == "linalg.fill":
        given, element = operation.operands[0].type, element_of(operation.operands[1].type)
        if isinstance(given, TensorType | MemRefType):
            raise operation.error("expected op with scalar input")
        if given is not element:
            raise operation.op_error(f"expected fill value type ('{given}') to match output element type ('{element}')")
    if operation.memoized is not None and operation.memoized != _derived(operation)[_MEMOIZED]:
        raise operation.op_error(
            f"attribute '{_MEMOIZED}' must be the indexing maps of the op, {_derived(operation)[_MEMOIZED]}, got "
            f"{operation.memoized}"
        )
    if operation.name in _STATING_MAPS:
        _verify_stated_maps(operation)
    if operation.name == "linalg.contract":
        _verify_contraction(operation)
    verify_structured(operation)
    _verify_body(operation)


def _verify_stated_maps(operation: NamedOp) -> None:
    """Raise VerifyError unless a matrix product's maps are the defaults, or transpose or broadcast its inputs."""
    maps, default = operation.indexing_maps, stated_maps(default_maps(operation.name, 3, 0))
    batched = operation.name != "linalg.matmul"
    if len(maps) != 3:
        if batched:
            raise operation.op_error("Indexing_map attribute must have 3 affine maps.")
        return  # verify_structured reports it
    require = _require_batched_input if batched else _require_input
    for number in (0, 1):
        require(operation, maps[number], default[number])
    if batched:
        given, wanted = maps[2].results, default[2].results
        if len(given) != len(wanted):
            raise operation.op_error(f"expects {len(wanted)} dims, but got ({len(given)}).")
        if given != wanted:
            raise operation.op_error("Invalid output map result dimension.")
    if any(len(set(map.results)) < len(map.results) for map in maps):
        raise operation.error("expected indexing maps to be projected permutations")


def _require_input(operation: NamedOp, map: AffineMapAttr, default: AffineMapAttr) -> None:
    if not set(map.results) <= set(default.results):
        raise operation.op_error("Unexpected dim expression in map result.")
    if len(map.results) < 2 and map.results != (("d", 2),):
        raise operation.op_error("Invalid broadcast requested, should be (d2).")


def _require_batched_input(operation: NamedOp, map: AffineMapAttr, default: AffineMapAttr) -> None:
    """Raise VerifyError unless an input of a batched product may have the indexing map `map` in place of `default`.

    The results of `default` are the batch dimension `b`, the reduced dimension `k` and another dimension. The results
    of `map` are three of these dimensions with `b` first, or broadcast the input: `(k)`, `(b, k)`, or the results of
    `default` without `b`.
    """
    if not set(map.results) <= set(default.results):
        raise operation.op_error("Unexpected result dim expression (outside the set of default result dims).")
    if len(map.results) > 3:
        raise operation.op_error("No. of result dim expressions exceeds 3.")
    batch, reduced = default.results[0], ("d", 3)
    allowed = ((reduced,), (batch, reduced), default.results[1:])
    if len(map.results) < 3 and map.results not in allowed:
        raise operation.op_error("Invalid broadcast requested.")
    if len(map.results) == 3 and map.results[0] != batch:
        raise operation.op_error("Invalid batch dimension expression.")


def _verify_contraction(operation: NamedOp) -> None:
    """Raise VerifyError unless each loop indexes the output or both inputs, and at least one loop is reduced."""
    maps = operation.indexing_maps
    for map in maps:
        if plain_loops(map) is None:
            raise operation.error("provided affine_map is not a projected permutation")
    if len(maps) != 3 or len({map.dimensions for map in maps}) > 1:
        return  # verify_structured reports it
    left, right, output = (set(map.results) for map in maps)
    for loop in range(maps[0].dimensions):
        if ("d", loop) not in output | (left & right):
            raise operation.error(
                f"iteration space dim at index {loop} is neither a contracting dim nor of parallel iteration type"
            )
    if not left & right - output:
        raise operation.error("'indexing_maps' do not specify a contracting dimension")


def _verify_body(operation: NamedOp) -> None:
    """Raise VerifyError unless the body is the one that the op's name implies, because the custom form omits the body.

    Constants are ignored, because they may have been moved out of the body.
    """
    own = body_of(operation.name, [value.type for value in operation.operands], operation.attributes).blocks[0]
    block = operation.regions[0].blocks[0]
    actual, expected = ([op for op in body if op.name != "arith.constant"] for body in (block, own))
    names, wanted = ([op.name for op in ops] for ops in (actual, expected))
    same: dict[Value, Value] = dict(zip(own.arguments, block.arguments, strict=True))
    if names != wanted:
        raise operation.op_error(f"must have the body {', '.join(wanted)}, but has {', '.join(names)}")
    for mine, theirs in zip(expected, actual, strict=True):
        given = [value for value in theirs.operands if not _is_constant(value)]
        if given != [same.get(value) for value in mine.operands if not _is_constant(value)]:
            raise operation.op_error(
                f"must have the body {', '.join(wanted)}, but operands of its '{mine.name}' differ from the op's "
                "definition"
            )
        same.update(zip(mine.results, theirs.results, strict=False))


def _is_constant(value: Value) -> bool:
    return value.operation is not None and value.operation.name == "arith.constant"


def _index_numbers(count: int) -> AttributeKind:
    """Return the constraint that an attribute has `count` strides or dilations: `dense<[1, 2]> : tensor<2xi64>`."""

    def holds(value: Attribute) -> bool:
        return isinstance(value, DenseElementsAttr) and _counts(value, count)

    return AttributeKind(
        f"64-bit signless int elements attribute of shape [{count}]", holds, lambda parser: parser.attribute()
    )


_CANONICALIZE = {"linalg.copy": ("linalg.canonicalize: copy_to_itself",)}


def _definition(name: str, named: NamedOpDefinition) -> Definition:
    attributes: dict[str, AttributeSpec] = {}
    short = name.partition(".")[2]
    if named.build is None:
        attributes["kind"] = AttributeSpec(kind=ELEMENTWISE_KIND, required=True)
    if named.states_maps:
        attributes[MAPS] = AttributeSpec(array_of_maps, required=True)
    if short in (*_CASTING, "batch_reduce_matmul"):
        attributes["cast"] = AttributeSpec(kind=CAST)  # without a default: an absent one is not printed
    if named.windows:
        for which in ("dilations", "strides"):
            attributes[which] = AttributeSpec(kind=_index_numbers(named.windows))
    return Definition(
        name,
        operands=("inputs*", "outputs*: shaped"),
        results=("results*: ranked tensor",),
        attributes=attributes,
        regions=1,
        traits=TRAITS,
        derived=_derived,
        effects=effects,
        parse=_parse,
        print=_print,
        verify=_verify,
        operation_class=NamedOp,
        canonicalize=(*CANONICALIZE, *_CANONICALIZE.get(name, ()), *CANONICALIZE_BUFFERS),
    )


OPS = [_definition(name, named) for name, named in TABLE.items()]
