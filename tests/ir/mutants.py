"""Wrong programs for every op: an example of it from the files beside this one, in generic form, with one attribute,
operand, result, type, region or successor replaced, removed or repeated."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from qrt import ir, types
from qrt.ir.core.attributes import ArrayAttr, Attribute, DenseArrayAttr, StringAttr, SymbolRefAttr, TypeAttr
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.registry import definition, every_definition
from qrt.ir.module import Module
from tests.expected import PRINTED

_ATTRIBUTES = """
  unit, true, 0, -1, 1 : i8, 3 : i32, 0 : index, -9223372036854775808, 9223372036854775807, 18446744073709551615 : ui64,
  4611686018427387904 : index, 0.5, 0x7FF8000000000000 : f64, 1.0 : f16, "", "text", "parallel" : i32, @name, @a::@b,
  [], [1], [0, 1], [0, 0.5], [0, @x], ["parallel"], [[]], [[0, 1]], [[0.5]], [[0], [1]], [unit], [{}], [true],
  [-9223372036854775808, 9223372036854775807], {}, {a = 1}, i32, tensor<4xf32>, memref<*xf32>, (i32) -> f32,
  array<i64>, array<i64: 0>, array<i64: -1, 1>, array<i64: -9223372036854775808>, array<i64: 9223372036854775807, 2>,
  array<i32: 1, 1>, array<i32: -1, 2>, array<i32>, array<i8: 1>, array<i1: true>, array<f32: 0.5>,
  dense<1> : tensor<i64>, dense<[1, 2]> : tensor<2xi64>, dense<0> : tensor<2xi64>, dense<1.0> : tensor<2xf32>,
  dense<[3, 4]> : tensor<2xindex>, dense<> : tensor<0xi64>, dense<1> : vector<2xi64>, dense<1> : vector<[2]xi64>,
  dense<1> : tensor<9223372036854775807xi8>, dense_resource<r> : tensor<2xi64>, affine_map<() -> ()>,
  dense<(1.0, 2.0)> : tensor<complex<f32>>, affine_map<(d0) -> (d0)>, affine_map<(d0, d1) -> (d1, d0)>,
  affine_map<(d0)[s0] -> (d0 + s0)>, affine_map<(d0) -> (0)>, affine_map<(d0, d1) -> (d0 floordiv 2, d1 mod 3, d0)>,
  [affine_map<(d0) -> (d0)>], [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> ()>],
  affine_set<(d0) : (d0 >= 0)>, affine_set<() : (0 == 0)>, #arith.fastmath<fast>, #vector.kind<add>,
  #linalg.iterator_type<reduction>, [#linalg.iterator_type<parallel>], loc(unknown), strided<[1], offset: ?>
"""
_TYPES = """
  i1, i8, si8, i32, i64, index, f16, f32, none, complex<f32>, tuple<f32>, () -> (), tensor<*xf32>, tensor<f32>,
  tensor<4xf32>, tensor<?xi8>, tensor<2x3xindex>, tensor<0x4xf32>, tensor<2xindex>, tensor<4xf32, "sparse">,
  vector<f32>, vector<4xf32>, vector<[4]xf32>, vector<2x[3]xi1>, vector<2x3xi8>, vector<4611686018427387904xf32>,
  memref<f32>, memref<4xf32>, memref<*xf32>, memref<*xi8, 3>, memref<4xf32, strided<[2], offset: 1>>, memref<?x4xi8>,
  memref<2x2xf32, affine_map<(d0, d1) -> (d1, d0)>>, memref<4xvector<2xf32>>, memref<2xindex>,
  !quant.uniform<i8:f32, 0.5>, tensor<4x!quant.uniform<i8:f32:0, {0.5, 1.0, 2.0, 3.0}>>, tensor<4x!quant.any<i8>>
"""


def _read(attributes: str) -> tuple[Attribute, ...]:
    module = ir.parse(f'"t"() {{a = [{attributes}]}} : () -> ()', allow_unregistered=True)
    listed = module.body.operations[0].attributes["a"]
    assert isinstance(listed, ArrayAttr)
    return listed.elements


ATTRIBUTES = _read(_ATTRIBUTES)
TYPES = [each.type for each in _read(_TYPES) if isinstance(each, TypeAttr)]


@cache
def examples() -> dict[str, list[Operation]]:
    """The operations of each name in the files."""
    found: dict[str, list[Operation]] = {name: [] for name in every_definition()}
    for path in PRINTED:
        for operation in ir.parse(path.read_text()).operation.walk():
            found[operation.name].append(operation)
    return found


_WHOLE = ("builtin.module", "func.func", "func.return", "memref.global")
"""Ops that are about the module around them, as are those that name a symbol or branch."""


class Example:
    """A copy of an operation, `target`, in a module of its own: the whole file, or a function that has the outermost
    operation around it alone, whose operands are the function's arguments."""

    def __init__(self, original: Operation) -> None:
        within = original
        names = any(isinstance(value, SymbolRefAttr) for value in original.attributes.values())
        whole = names or bool(original.successors) or original.name in _WHOLE
        while (parent := within.parent_operation) is not None and (whole or parent.name != "func.func"):
            within = parent
        inside = {value for each in within.walk() for value in _defined(each)}
        outside = dict.fromkeys(value for each in within.walk() for value in each.operands if value not in inside)
        self.entry = Block(value.type for value in outside)
        copy = within.clone(dict(zip(outside, self.entry.arguments, strict=True)))
        pairs = zip(within.walk(), copy.walk(), strict=True)
        self.target = next(mine for theirs, mine in pairs if theirs is original)
        self.function: Operation | None = None
        if within.name != "builtin.module":
            self.entry.append(copy)
            self.entry.append(_made("func.return"))
            self.function = _made("func.func", [self.entry])
            self.function.attributes["sym_name"] = StringAttr("f")
            copy = _made("builtin.module", [Block()])
            copy.regions[0].blocks[0].append(self.function)
        self.module = Module(copy)

    def value(self, type: types.Type) -> Value:
        """A value of a type that is defined before the operation."""
        if self.function is not None:
            return self.entry.add_argument(type)
        source = Operation("test.source", (), [type])
        block = self.target.parent
        if block is None:
            return Value(type, None, 0)
        if block.first is None:
            block.append(source)
        else:
            block.insert_before(block.first, source)
        return source.result

    def text(self) -> str:
        """The generic form."""
        if self.function is not None:
            inputs = [value.type for value in self.entry.arguments]
            self.function.attributes["function_type"] = TypeAttr(types.FunctionType(inputs, ()))
        return self.module.print(generic=True)


def _made(name: str, blocks: Sequence[Block] | None = None) -> Operation:
    known = definition(name)
    regions = [] if blocks is None else [Region(blocks)]
    return known.operation_class(name, regions=regions, definition=known)


def _defined(operation: Operation) -> Iterator[Value]:
    yield from operation.results
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments


Change = Callable[[Example], object]

# -- changes -----------------------------------------------------------------------------------------------------------


def changes(operation: Operation) -> Iterator[tuple[str, Change]]:
    """What can be wrong about an operation, each with what does it to an example."""
    yield from _changed_attributes(operation)
    for index in range(len(operation.operands)):
        yield f"operand {index} dropped", lambda e, i=index: _operands(e, lambda v: v[:i] + v[i + 1 :])
        yield f"operand {index} twice", lambda e, i=index: _operands(e, lambda v: v[:i] + v[i:][:1] + v[i:])
        for type in TYPES:
            yield f"operand {index} of {type}", lambda e, i=index, t=type: e.target.set_operand(i, e.value(t))
    yield "one more operand", lambda e: _operands(e, lambda v: [*v, e.value(TYPES[0])])
    yield "no operand", lambda e: _operands(e, lambda v: [])
    for index in range(len(operation.results)):
        yield f"result {index} dropped", lambda e, i=index: _results(e, lambda t: t[:i] + t[i + 1 :])
        for type in TYPES:
            yield (
                f"result {index} of {type}",
                lambda e, i=index, t=type: _results(e, lambda r: [*r[:i], t, *r[i + 1 :]]),
            )
    yield "one more result", lambda e: _results(e, lambda t: [*t, TYPES[0]])
    for type in TYPES:
        yield f"everything of {type}", lambda e, t=type: _everything(e, t)
    yield from _changed_regions(operation)


def _changed_attributes(operation: Operation) -> Iterator[tuple[str, Change]]:
    assert operation.definition is not None
    known = [*operation.attributes, *operation.definition.attributes]
    for name in dict.fromkeys(known):
        old = operation.attributes.get(name)
        if old is not None:
            yield f"{name} removed", lambda e, n=name: e.target.attributes.pop(n)
        for new in (*ATTRIBUTES, *_near(old)):
            yield f"{name} = {new}", lambda e, n=name, v=new: e.target.attributes.update({n: v})


def _near(value: Attribute | None) -> Iterator[Attribute]:
    """An attribute with one of its elements replaced, repeated or removed."""
    if isinstance(value, ArrayAttr):
        listed = value.elements
        for index in range(len(listed)):
            others = (*ATTRIBUTES[::5], *_near(listed[index]))
            yield from (ArrayAttr((*listed[:index], other, *listed[index + 1 :])) for other in others)
            yield ArrayAttr((*listed[:index], *listed[index + 1 :]))
            yield ArrayAttr((*listed[:index], listed[index], *listed[index:]))
    elif isinstance(value, DenseArrayAttr) and isinstance(value.element, types.IntegerType):
        numbers, half = value.values, 1 << (value.element.width - 1)
        for index in range(len(numbers)):
            others = (-half, -half + 1, half - 1, -1, 0, 1, 2)
            yield from (DenseArrayAttr(value.element, (*numbers[:index], n, *numbers[index + 1 :])) for n in others)
            yield DenseArrayAttr(value.element, (*numbers[:index], *numbers[index + 1 :]))
            yield DenseArrayAttr(value.element, (*numbers[:index], numbers[index], *numbers[index:]))


def _changed_regions(operation: Operation) -> Iterator[tuple[str, Change]]:
    for index, region in enumerate(operation.regions):
        yield f"region {index} dropped", lambda e, i=index: _regions(e, lambda r: r[:i] + r[i + 1 :])
        yield f"region {index} emptied", lambda e, i=index: _regions(e, lambda r: (*r[:i], Region(), *r[i + 1 :]))
        yield (
            f"region {index} of an empty block",
            lambda e, i=index: _regions(e, lambda r: (*r[:i], Region([Block()]), *r[i + 1 :])),
        )
        if region.blocks:
            if region.blocks[0].last is not None:
                yield f"region {index} without its terminator", lambda e, i=index: _body(e, i).last.erase()
            yield f"region {index} with one more argument", lambda e, i=index: _body(e, i).add_argument(TYPES[0])
            yield f"region {index} with one more block", lambda e, i=index: e.target.regions[i].append(Block())
            for number, type in ((n, t) for n in range(len(region.blocks[0].arguments)) for t in TYPES[::3]):
                yield f"argument {number} of {type}", lambda e, i=index, n=number, t=type: _retype(e, i, n, t)
        if any(block.arguments for block in region.blocks):
            yield f"region {index} without arguments", lambda e, i=index: _without_arguments(e, i)
    yield "one more region", lambda e: _regions(e, lambda r: (*r, Region([Block()])))
    if operation.successors:
        yield "no successor", lambda e: e.target.set_successors([])
        yield "a successor twice", lambda e: e.target.set_successors([*e.target.successors, e.target.successors[0]])
        for index in range(len(operation.successors)):
            yield (
                f"successor {index} is the first",
                lambda e, i=index: e.target.set_successors(
                    [*e.target.successors[:i], e.target.parent.parent.blocks[0], *e.target.successors[i + 1 :]]
                ),
            )


def _operands(example: Example, change: Callable[[list[Value]], list[Value]]) -> None:
    example.target.set_operands(change(example.target.operands))


def _results(example: Example, change: Callable[[list[types.Type]], list[types.Type]]) -> None:
    """Users are given other values."""
    target = example.target
    for result in target.results:
        if result.uses:
            result.replace_all_uses(example.value(result.type))
    target.results = [Value(type, target, i) for i, type in enumerate(change([each.type for each in target.results]))]


def _everything(example: Example, type: types.Type) -> None:
    for index in range(len(example.target.operands)):
        example.target.set_operand(index, example.value(type))
    _results(example, lambda t: [type] * len(t))


def _regions(example: Example, change: Callable[[tuple[Region, ...]], tuple[Region, ...]]) -> None:
    example.target.regions = change(example.target.regions)
    for region in example.target.regions:
        region.parent = example.target


def _body(example: Example, index: int) -> Block:
    return example.target.regions[index].blocks[0]


def _retype(example: Example, index: int, number: int, type: types.Type) -> None:
    """The argument's users see its new type."""
    _body(example, index).arguments[number].type = type


def _without_arguments(example: Example, index: int) -> None:
    body = _body(example, index)
    for argument in body.arguments:
        argument.replace_all_uses(example.value(argument.type))
    body.arguments = []
