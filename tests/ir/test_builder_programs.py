"""Every op of the programs of this folder, made again by the Builder from what its generic form says. Hazards: an op
that the Builder cannot make; operands in other groups; a type that follows otherwise than in the text."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import qrt
from qrt import ir
from qrt.ir.core.define import Definition
from qrt.ir.core.operations import Block, Operation, Region, Value

FOLDER = Path(__file__).parent
PROGRAMS = sorted(FOLDER.glob("*.expected.mlir"))


CHOICES = (
    "qrt.add", "qrt.sub", "qrt.mul", "qrt.matmul", "qrt.conv2d", "qrt.depthwise_conv2d", "qrt.requantize",
    "qrt.softmax", "qrt.reshape", "qrt.argmax", "qrt.argmin", "qrt.transpose_conv2d", "quant.conv2d",
    "quant.matmul", "func.call",
)  # fmt: skip
"""Ops of which several result types are right; without one the op accumulates, or says that it needs one. A call has
those of a function that may be defined later."""
KEYWORDS = inspect.signature(ir.Builder.create).parameters.keys()
"""Attributes of these names are given by `attributes=`."""


def made_again(module: ir.Module, infer: bool = False) -> ir.Module:
    """The module, each op made by `Builder.create`."""
    made = ir.Module()
    made.upstream = module.upstream
    made.operation.attributes.update(module.operation.attributes)
    _Copy(infer).fill(module.body, made.body)
    return made


class _Copy:
    def __init__(self, infer: bool) -> None:
        self.infer = infer
        self.values: dict[Value, Value] = {}
        self.blocks: dict[Block, Block] = {}
        self.followed = 0

    def fill(self, source: Block, target: Block) -> None:
        for operation in source:
            self.copy(operation, ir.Builder(target))

    def copy(self, operation: Operation, b: ir.Builder) -> None:
        definition = operation.definition
        assert definition is not None, operation.name
        regions = [self.region(region) for region in operation.regions]
        segments = {groups.segments for groups in (definition.operand_groups, definition.result_groups)}
        given = {name: value for name, value in operation.attributes.items() if name not in segments}
        named: dict[str, Any] = {
            name: given.pop(name) for name in definition.attributes if name in given and name not in KEYWORDS
        }
        groups = self.groups(definition, operation)
        results = [value.type for value in operation.results]
        made = b.create(
            operation.name,
            *groups,
            types=results,
            regions=regions,
            attributes=given,
            successors=[self.blocks[block] for block in operation.successors],
            **named,
        )
        self.values.update(zip(operation.results, made.results, strict=True))

    def groups(self, definition: Definition, operation: Operation) -> list[Any]:
        found: list[Any] = []
        for group in definition.operand_groups.declared:
            values = [self.values[value] for value in definition.operand_group(operation, group.name)]
            found.append(values if group.size == "*" else values[0] if values else None)
        return found

    def region(self, region: Region) -> Region:
        blocks = [Block([argument.type for argument in block.arguments]) for block in region.blocks]
        self.blocks.update(zip(region.blocks, blocks, strict=True))
        for old, new in zip(region.blocks, blocks, strict=True):
            self.values.update(zip(old.arguments, new.arguments, strict=True))
        made = Region(blocks)
        for old, new in zip(region.blocks, blocks, strict=True):
            self.fill(old, new)
        return made


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_op_is_made_again(path: Path) -> None:
    module = ir.parse(path.read_text())
    made = made_again(module)
    made.verify()
    assert made == module
    assert made.print(generic=True) == module.print(generic=True)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_type_that_follows_is_the_one_of_the_text(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But where the op has a choice. An op whose type does not follow says so."""
    create = ir.Builder.create

    def twice(self: ir.Builder, name: str, *operands: Any, types: list[Any], **named: Any) -> Operation:
        if types and name not in CHOICES and not named["regions"]:
            try:
                inferred = create(self, name, *operands, **named)
            except qrt.errors.QuantTypeError as error:
                assert re.search(r"cannot be inferred|results?\b", str(error)), error  # noqa: PT017
            else:
                assert [value.type for value in inferred.results] == types, name
                inferred.erase()
        return create(self, name, *operands, types=types, **named)

    monkeypatch.setattr(ir.Builder, "create", twice)
    made_again(ir.parse(path.read_text()))


def test_choices_are_refused_or_accumulate() -> None:
    """The choices above are no way around the test: each op stands in a program."""
    text = "".join(path.read_text() for path in PROGRAMS)
    assert [name for name in CHOICES if name.removeprefix("func.") not in text] == []
