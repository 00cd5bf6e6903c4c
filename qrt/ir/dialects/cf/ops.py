"""`cf`: branches between blocks."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from qrt.ir.core import attribute_kinds
from qrt.ir.core.attributes import DenseArrayAttr, instance_of
from qrt.ir.core.define import AttributeSpec, Definition, segments
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.operations import Block, Operation, Value, check_branch
from qrt.ir.core.traits import MEM_WRITE, PURE, TERMINATOR
from qrt.ir.dialects._regions.forms import spell_types
from qrt.ir.text.dense import DenseElementsAttr, storage_dtype
from qrt.types import IntegerType, VectorType

_I32 = IntegerType(32)
_WEIGHTS = AttributeSpec(kind=attribute_kinds.dense_array(_I32))

# -- values that branches pass -----------------------------------------------------------------------------------------


def passed_values(branch: Operation) -> list[list[Value]]:
    """Return the values that a branch passes to each of its successors."""
    assert branch.definition is not None
    if branch.name == "cf.switch":
        defaults = branch.operand_group("defaultOperands")
        return [defaults, *(values for _, values in switch_cases(branch))]
    names = [successor.rest for successor in branch.definition.successor_names]
    return [branch.operand_group(name) for name in names]


def pass_values(branch: Operation, lists: Sequence[Sequence[Value]]) -> None:
    """Replace the values that a branch passes to successor i by `lists[i]`."""
    flag = branch.operands[:1] if branch.name != "cf.br" else []
    sizes = [len(values) for values in lists]
    if branch.name == "cf.cond_br":
        branch.attributes["operandSegmentSizes"] = segments(1, *sizes)
    elif branch.name == "cf.switch":
        branch.attributes["case_operand_segments"] = DenseArrayAttr(_I32, tuple(sizes[1:]))
        branch.attributes["operandSegmentSizes"] = segments(1, sizes[0], sum(sizes[1:]))
    branch.set_operands([*flag, *(value for values in lists for value in values)])


# -- cf.switch ---------------------------------------------------------------------------------------------------------


def _parse_switch(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    pending.operands = [parser.operand()]
    scanner.expect(":", " before the flag's type")
    start = scanner.skip()
    type = parser.type()
    if not isinstance(type, IntegerType):
        raise scanner.error(f"expected an integer type, not {type}", start, scanner.pos)
    pending.operand_types = [type]
    scanner.expect(",", " after the flag's type")
    scanner.expect("[", " before the cases")
    scanner.expect_word("default", " before the cases")
    sizes = [_parse_destination(parser, pending)]
    values: list[int] = []
    while scanner.accept(","):
        values.append(scanner.integer(min(type.width + 1, 64), "a case value"))
        sizes.append(_parse_destination(parser, pending))
    scanner.expect("]", " after the cases")
    pending.attributes.update(parser.optional_attributes())
    pending.attributes["case_operand_segments"] = DenseArrayAttr(_I32, tuple(sizes[1:]))
    pending.attributes["operandSegmentSizes"] = segments(1, sizes[0], sum(sizes[1:]))
    if values:
        span = 1 << type.width
        least = 0 if type.signedness == "unsigned" or str(type) == "i1" else -(span >> 1)
        array = np.array([(value - least) % span + least for value in values], storage_dtype(type))
        pending.attributes["case_values"] = DenseElementsAttr(array, VectorType((len(values),), type))


def _parse_destination(parser: FormParser, pending: PendingOperation) -> int:
    """Parse `: ^block(%operands : types)` and return the number of operands passed to the block."""
    scanner = parser.scanner
    scanner.expect(":", " before a destination")
    pending.successors.append(parser.successor())
    if not scanner.accept("("):
        return 0
    operands: list[OperandName] = parser.operand_list()
    scanner.expect(":", " before operand types")
    types = scanner.separated(parser.type)
    scanner.expect(")", " after operand types")
    pending.operands.extend(operands)
    pending.operand_types.extend(types)
    return len(operands)


def switch_cases(operation: Operation) -> list[tuple[int, list[Value]]]:
    """Return (value, passed operands) for each case of a `cf.switch` except the default, in the successors' order."""
    values = operation.attributes.get("case_values")
    sizes = operation.attribute("case_operand_segments", DenseArrayAttr)
    given = operation.operand_group("caseOperands")
    ends = list(accumulate(sizes.values))
    numbers = values.array.tolist() if isinstance(values, DenseElementsAttr) else []
    return [
        (int(number), given[end - size : end]) for number, end, size in zip(numbers, ends, sizes.values, strict=True)
    ]


def _print_switch(printer: FormPrinter, operation: Operation) -> None:
    flag = operation.operands[0]
    assert isinstance(flag.type, IntegerType)  # the constraint
    printer.word(f"{printer.name(flag)} : {flag.type}, [")
    printer.new_line("  ")
    defaults = operation.operand_group("defaultOperands")
    printer.attach(f"default: {_destination(printer, operation.successors[0], defaults)}")
    cases = switch_cases(operation)
    for (value, operands), block in zip(cases, operation.successors[1:], strict=True):
        printer.attach(",")
        printer.new_line("  ")
        # Signed: mlir-opt 22 prints -3 : i32 as 4294967293, which it cannot read.
        printer.attach(f"{value}: {_destination(printer, block, operands)}")
    if cases:
        printer.new_line()
    printer.attach("]")
    printer.attributes(operation, ("case_operand_segments", "case_values", "operandSegmentSizes"))


def _destination(printer: FormPrinter, block: Block, operands: list[Value]) -> str:
    if not operands:
        return printer.label(block)
    names = ", ".join(map(printer.name, operands))
    return f"{printer.label(block)}({names} : {spell_types([value.type for value in operands])})"


def _verify_switch(operation: Operation) -> None:
    values = operation.attributes.get("case_values")
    sizes = operation.attribute("case_operand_segments", DenseArrayAttr)
    count = values.array.size if isinstance(values, DenseElementsAttr) else 0
    if isinstance(values, DenseElementsAttr) and values.element is not operation.operands[0].type:
        raise operation.op_error(
            f"'flag' type ({operation.operands[0].type}) should match case value type ({values.element})"
        )
    if count != len(operation.successors) - 1:
        raise operation.op_error(
            f"number of case values ({count}) should match number of case destinations "
            f"({len(operation.successors) - 1})"
        )
    given = operation.operand_group("caseOperands")
    if len(sizes.values) != count or sum(sizes.values) != len(given) or any(size < 0 for size in sizes.values):
        raise operation.op_error(
            f"attribute 'case_operand_segments' must have {count} non-negative sizes whose sum is {len(given)}, the "
            "number "
            f"of case operands, got {sizes}"
        )
    lists = [operation.operand_group("defaultOperands"), *(operands for _, operands in switch_cases(operation))]
    for index, (operands, block) in enumerate(zip(lists, operation.successors, strict=True)):
        check_branch(operation, index, block, operands)


SWITCH = Definition(
    "cf.switch",
    operands=("flag: integer", "defaultOperands*", "caseOperands*"),
    attributes={
        "case_values": AttributeSpec(instance_of(DenseElementsAttr, "dense integers")),
        "case_operand_segments": AttributeSpec(kind=attribute_kinds.dense_array(_I32), required=True),
    },
    successors=("defaultDestination", "caseDestinations*"),
    traits={TERMINATOR, PURE},
    parse=_parse_switch,
    print=_print_switch,
    verify=_verify_switch,
    passed_values=passed_values,
    pass_values=pass_values,
    canonicalize=("cf.canonicalize: only_default cases_like_default known_flag switch_past switched_before",),
)


def _verify_cond_br(operation: Operation) -> None:
    weights = operation.attributes.get("branch_weights")
    if isinstance(weights, DenseArrayAttr) and len(weights.values) != 2:
        raise operation.error(
            f"expects number of branch weights to match number of successors: {len(weights.values)} vs 2"
        )


OPS = [
    Definition(
        "cf.assert",
        operands=("arg: i1",),
        attributes={"msg": AttributeSpec(kind=attribute_kinds.STRING, required=True)},
        traits={MEM_WRITE},
        format="$arg `,` $msg attr-dict",
        canonicalize=("cf.canonicalize: true_assertion",),
    ),
    Definition(
        "cf.br",
        operands=("destOperands*",),
        successors=("dest: destOperands",),
        traits={TERMINATOR, PURE},
        format="$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict",
        canonicalize=("cf.canonicalize: jump_on",),
        passed_values=passed_values,
        pass_values=pass_values,
    ),
    Definition(
        "cf.cond_br",
        operands=("condition: i1", "trueDestOperands*", "falseDestOperands*"),
        attributes={"branch_weights": _WEIGHTS},
        successors=("trueDest: trueDestOperands", "falseDest: falseDestOperands"),
        traits={TERMINATOR, PURE},
        format="$condition (`weights` `(` $branch_weights^ `)`)? `,` "
        "$trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` "
        "$falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict",
        verify_signature=_verify_cond_br,
        passed_values=passed_values,
        pass_values=pass_values,
        canonicalize=(
            "cf.canonicalize: known_condition branch_past one_target decided_before condition_is_known_there",
        ),
    ),
    SWITCH,
]
