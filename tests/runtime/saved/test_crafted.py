"""A file whose checksums fit, and whose values nobody saved: what it says is refused before any kernel is bound to it,
with an error that names the file. A file is no proof of who wrote it."""

import inspect
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt._ext import kernels as kernel_calls
from qrt.numerics import RequantParameters
from qrt.runtime.interpreter import core
from qrt.runtime.saved import index as saved_index
from qrt.runtime.saved.container import SIZE
from qrt.runtime.saved.entry_table import ENTRIES
from tests.runtime.saved.crafted import DtypeName, Fields, Index, OneCall, decoded, index_of, one_calls, pack
from tests.runtime.saved.samples import LOOP, OPEN, STATE, TEXTS, inputs_of

INTERFACE = {"data": (4096, False), "shape": (8,), "typestr": "|i1", "version": 3}
TWO = "func.func @f(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> { %0 = arith.addi %x, %y : tensor<4xi8> return %0 : tensor<4xi8> }"  # noqa: E501


def load_and_run(path: Path) -> None:
    loaded = qrt.load_program(path)
    loaded.run(inputs_of(loaded), max_steps=1000)


def refused(path: Path, index: Index) -> str:
    """The message with which a file of these values is refused, when it is loaded or when its plan is needed."""
    pack(path, index)
    with pytest.raises(qrt.errors.ModelError) as caught:
        load_and_run(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """A value with another one at a place, which is the keys that lead there."""
    if not at:
        return new
    if isinstance(value, dict):
        return {**value, at[0]: replaced(value[at[0]], at[1:], new)}
    return (*value[: at[0]], replaced(value[at[0]], at[1:], new), *value[at[0] + 1 :])


def plan_with(index: Index, at: tuple[Any, ...], new: Any) -> Index:
    changed: Index = replaced(index, ("plans", 0, *at), new)
    return changed


def call_number(index: Index, name: str) -> int:
    return next(i for i, (entry, _) in enumerate(index["plans"][0]["calls"]) if entry == name)


# -- the table -------------------------------------------------------------------------------------------------------


def test_the_table_has_every_entry_with_all_its_arguments() -> None:
    functions = {name: function for name, function in vars(kernel_calls).items() if name.startswith("bind_")}
    assert ENTRIES.keys() == functions.keys()
    for name, entry in ENTRIES.items():
        parameters = inspect.signature(functions[name]).parameters
        required = {key for key, p in parameters.items() if p.default is inspect.Parameter.empty}
        assert entry.required.keys() == required - {"isa"}, name
        assert entry.defaulted.keys() == parameters.keys() - required - {"stored"}, name
        assert (entry.has_isa, entry.is_packed) == ("isa" in parameters, "stored" in parameters), name


def test_every_entry_that_computes_has_a_program_here() -> None:
    assert {one.name for one in one_calls()} == ENTRIES.keys() - {"bind_control"}


def test_limits_are_those_of_the_interpreter() -> None:
    assert saved_index.MOST_ROUNDS == core.MOST_ROUNDS


@pytest.mark.parametrize("one", one_calls(), ids=lambda one: one.label)
def test_a_program_of_one_call_runs(one: OneCall, tmp_path: Path) -> None:
    """What the other tests change is right before they change it."""
    pack(tmp_path / "p.qrt", one.index())
    loaded = qrt.load_program(tmp_path / "p.qrt")
    inputs = inputs_of(loaded)
    found = loaded.run(inputs)
    layouts = list(zip(one.call.operand_shapes, one.call.operand_dtypes, strict=True))
    outputs = [np.empty(*layout) for layout in layouts[len(inputs) :]]
    one.call(
        *(inputs[port.name].reshape(shape) for port, (shape, _) in zip(loaded.inputs, layouts, strict=False)), *outputs
    )
    for value, expected in zip(found.values(), outputs, strict=True):
        assert value.tobytes() == expected.tobytes()


# -- the kinds of values that corrupted memory -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["O", "S8", "U2", "V4", "M8[s]", ">i4", "c8", "i4,i4", "(2,)i4", "g", "iinfo", "float"]
)
def test_dtypes_of_external_arrays(name: str, tmp_path: Path) -> None:
    """Integers became pointers to objects; an array was made too small."""
    index = index_of(TWO, tmp_path / "p.qrt")
    message = refused(tmp_path / "p.qrt", plan_with(index, ("externals", 0, 0), DtypeName(name)))
    assert f"there is no dtype '{name}'" in message
    message = refused(tmp_path / "p.qrt", plan_with(index, ("externals", 0, 0), name))
    assert "expected a dtype" in message


def test_a_dtype_with_a_shape(tmp_path: Path) -> None:
    index = index_of(TWO, tmp_path / "p.qrt")
    for dtype in ((np.dtype("i8"), (1,)), (np.dtype("i8"), 2), ("i8", (1,)), None, (("a", "i4"),)):
        assert "externals: " in refused(tmp_path / "p.qrt", plan_with(index, ("externals", 0, 0), dtype))


def test_dtypes_that_are_others_than_those_of_the_ports(tmp_path: Path) -> None:
    index = index_of(TWO, tmp_path / "p.qrt")
    for number, dtype in ((0, np.int64), (2, np.int64), (0, np.uint8), (2, np.bool_)):
        message = refused(tmp_path / "p.qrt", plan_with(index, ("externals", number, 0), np.dtype(dtype)))
        assert f"array {number} of a plan is {np.dtype(dtype)} of shape (4,), expected int8 of shape (4,)" in message


def test_results_of_other_types_than_the_ports(tmp_path: Path) -> None:
    """A result becomes a tensor of the port's type."""
    index = plan_with(index_of(TWO, tmp_path / "p.qrt"), ("results", 0), "tensor<4xf64>")
    index = plan_with(index, ("externals", 2), (np.dtype("f8"), (4,)))
    assert "has the type tensor<4xf64> in a plan" in refused(tmp_path / "p.qrt", index)
    assert "shape" in refused(tmp_path / "p.qrt", plan_with(index, ("results", 0), "tensor<5xi8>"))


@pytest.mark.parametrize("value", [Fields(__array_interface__=INTERFACE), {"__array_interface__": INTERFACE}])
def test_objects_that_say_where_an_array_is(value: Any, tmp_path: Path) -> None:
    """NumPy would read any address."""
    index = index_of(OPEN, tmp_path / "p.qrt")
    at = ("calls", call_number(index, "bind_gemm"), 1)
    for argument in ("b_zero_points", "b_constant", "requant", "bias", "m", "a"):
        message = refused(tmp_path / "p.qrt", plan_with(index, (*at, argument), value))
        assert "expected" in message or "there is no kind 11 of values" in message or "is missing" in message
    for at in (("bases", 0), ("states",), ("packed", 0), ("externals", 0, 1), ("types", 0)):
        refused(tmp_path / "p.qrt", plan_with(index, at, value))


@pytest.mark.parametrize("one", one_calls(), ids=lambda one: one.label)
def test_sizes_that_are_arrays(one: OneCall, tmp_path: Path) -> None:
    """Products of arrays of rank 0 wrap around."""
    for name, value in one.arguments.items():
        if type(value) is int:
            index = plan_with(one.index(), ("calls", 0, 1, name), np.array(value, np.int64))
        elif _is_shape(value):
            index = plan_with(one.index(), ("calls", 0, 1, name), tuple(np.array(n, np.int64) for n in value))
        else:
            continue
        message = refused(tmp_path / "p.qrt", index)
        assert f"{one.name}: {name}: " in message
        assert "expected" in message


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(type(n) is int for n in value)


def test_products_that_leave_64_bits(tmp_path: Path) -> None:
    for one in one_calls():
        for name, value in one.arguments.items():
            if _is_shape(value) and "shape" in name:
                index = plan_with(one.index(), ("calls", 0, 1, name), (1 << 40,) * len(value))
                assert refused(tmp_path / "p.qrt", index)


def test_offsets(tmp_path: Path) -> None:
    """A float rounds down what it is added to."""
    index = index_of(TWO, tmp_path / "p.qrt")
    counts, bases, offsets = index["plans"][0]["operands"]
    for wrong in (np.array(2.5), 1.5, -1, True, None, 1 << 60, 1):
        changed = plan_with(index, ("operands",), (counts, bases, (wrong, *offsets[1:])))
        assert refused(tmp_path / "p.qrt", changed)
    for wrong in (-1, len(index["plans"][0]["bases"]), 1 << 40, 1.0, np.array(1), True):
        changed = plan_with(index, ("operands",), (counts, (wrong, *bases[1:]), offsets))
        assert refused(tmp_path / "p.qrt", changed)
    for wrong in (-1, 2, 4, 1 << 31, np.array(3)):
        changed = plan_with(index, ("operands",), ((wrong,), bases, offsets))
        assert refused(tmp_path / "p.qrt", changed)


def test_two_bases_that_are_one_array(tmp_path: Path) -> None:
    """Operands were compared by the numbers of their bases, so that one was written while it was read."""
    index = index_of(OPEN, tmp_path / "p.qrt")
    bases = index["plans"][0]["bases"]
    for twice in (bases[-1] if type(bases[-1]) is int else 0, None):
        changed = plan_with(index, ("bases",), (*bases, twice))
        assert "the bases must be different arrays" in refused(tmp_path / "p.qrt", changed)
    for wrong in (True, -1, 3.0, 1 << 40, np.array(None is None), (0,), "0"):
        changed = plan_with(index, ("bases",), (*bases[:1], wrong, *bases[2:]))
        assert refused(tmp_path / "p.qrt", changed)


@pytest.mark.parametrize("more", [1, 3])
def test_more_arrays_than_inputs_results_and_states(more: int, tmp_path: Path) -> None:
    """A call with arguments that fit read behind an empty tuple of states."""
    index = index_of(TWO, tmp_path / "p.qrt")
    externals = index["plans"][0]["externals"]
    message = refused(tmp_path / "p.qrt", plan_with(index, ("externals",), (*externals, *[externals[0]] * more)))
    assert f"a plan has {3 + more} arrays, but 3 inputs and results and 0 states" in message
    message = refused(tmp_path / "p.qrt", plan_with(index, ("externals",), externals[:2]))
    assert "a plan has 2 arrays" in message


@pytest.mark.parametrize(
    "counts", [(1, 2), (2, 0), (3, 1), (0, 0), (-1, 1), ((1 << 31) - 1, 1), (1 << 40, 1), (2, 1.0)]
)
def test_numbers_of_inputs_and_results(counts: tuple[Any, Any], tmp_path: Path) -> None:
    index = index_of(TWO, tmp_path / "p.qrt")
    old = index["plans"][0]["counts"]
    assert refused(tmp_path / "p.qrt", plan_with(index, ("counts",), (*counts, *old[2:])))


@pytest.mark.parametrize("arena", [-1, (1 << 63) - 1, 1 << 62, 1.5, np.array(64)])
def test_bytes_of_the_arena(arena: Any, tmp_path: Path) -> None:
    index = index_of(TEXTS["everything"], tmp_path / "p.qrt")
    assert "counts: " in refused(tmp_path / "p.qrt", plan_with(index, ("counts", 2), arena))


def tuples_of(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """The tuples and lists in a value, each with its place."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from tuples_of(each, (*at, key))
    elif isinstance(value, tuple | list):
        yield at, tuple(value)
        for number, each in enumerate(value):
            yield from tuples_of(each, (*at, number))


@pytest.mark.parametrize("one", one_calls(), ids=lambda one: one.label)
def test_tuples_of_other_lengths(one: OneCall, tmp_path: Path) -> None:
    """Cython read behind the end of a tuple as behind that of an array of C."""
    plain: Index = plan_with(one.index(), ("calls", 0, 1), decoded(one.arguments))
    for at, value in tuples_of(plain["plans"][0]["calls"][0][1]):
        for other in (value[:-1], (), value[:1], (*value, value[-1]) if value else (1,), (*value, *value)):
            check_or_run(plan_with(plain, ("calls", 0, 1, *at), other), tmp_path / "p.qrt")


def check_or_run(index: Index, path: Path) -> None:
    """Refuse values, or run what they say: a sanitizer sees what a run does."""
    pack(path, index)
    with suppress(qrt.QuantError):
        load_and_run(path)


# -- every argument of every entry, of every wrong kind ---------------------------------------------------------------

ALWAYS = (Fields(__array_interface__=INTERFACE), {"__array_interface__": INTERFACE}, {}, DtypeName("O"), (((),),),
          (None, 1), ("x",), np.array([[True]]))  # fmt: skip
"""Values that no argument takes."""
SCALAR = (np.array(1), np.array(1.5), np.zeros(2, np.int64), np.zeros((1, 1), np.float16), (1.5,), (1,), ())
"""Values that no argument takes that is one number, flag or word."""
WRONG: dict[type, tuple[Any, ...]] = {
    bool: (*ALWAYS, *SCALAR, 0, 1, None, 1.0, "true", np.dtype("i1")),
    int: (*ALWAYS, *SCALAR, True, 1.0, "1", np.dtype("i1"), 1 << 62, -(1 << 62)),
    float: (*ALWAYS, *SCALAR, True, None, "1", float("inf"), float("nan"), np.dtype("i1")),
    str: (*ALWAYS, *SCALAR, True, 1, 1.5, np.dtype("i1")),
    tuple: (*ALWAYS, True, 1.5, "x", np.dtype("i1"), 1 << 62, (1.5,) * 64, (np.array(1),), (True,)),
    np.ndarray: (*ALWAYS, 1 << 62, True, 1.5, "x", np.dtype("i1"), (np.array(1),), (True,), ("i4",)),
    np.dtype: (*ALWAYS, *SCALAR, True, 1, 1.5, "i4", "O"),
    RequantParameters: (*ALWAYS, *SCALAR, True, 1, "fixed", np.dtype("i1")),
}


def sample_type(value: Any) -> type:
    if isinstance(value, np.dtype | type):
        return np.dtype
    if isinstance(value, list | tuple):
        return np.ndarray if any(type(each) is float for each in value) else tuple
    return type(value)


@pytest.mark.parametrize("one", one_calls(), ids=lambda one: one.label)
def test_every_argument_of_every_wrong_kind(one: OneCall, tmp_path: Path) -> None:
    for name, value in one.arguments.items():
        for wrong in WRONG.get(sample_type(value), ALWAYS):
            index = plan_with(one.index(), ("calls", 0, 1, name), wrong)
            message = refused(tmp_path / "p.qrt", index)
            named = f"{one.name}: {name}: " in message and "expected" in message
            assert named or "there is no" in message or "is missing" in message, (name, wrong, message)


@pytest.mark.parametrize("one", one_calls(), ids=lambda one: one.label)
def test_every_number_of_an_argument(one: OneCall, tmp_path: Path) -> None:
    """Numbers of the right kind, far from those that were saved."""
    plain: Index = plan_with(one.index(), ("calls", 0, 1), decoded(one.arguments))
    for name, value in plain["plans"][0]["calls"][0][1].items():
        places = [()] if type(value) is int else [(i,) for i in range(len(value))] if _is_shape(value) else []
        for at in places:
            for number in (-1, 0, 1, 3, 64, (1 << 31) - 1, 1 << 31, 1 << 40):
                check_or_run(plan_with(plain, ("calls", 0, 1, name, *at), number), tmp_path / "p.qrt")


@pytest.mark.parametrize("field", list(RequantParameters.__dataclass_fields__))
def test_every_field_of_a_requantization(field: str, tmp_path: Path) -> None:
    (one,) = [one for one in one_calls() if one.name == "bind_leaky_relu"]
    fields = dict(vars(one.arguments["requant"]))
    for wrong in (*ALWAYS, np.array(1), True, 1.5, None, "x", (1,), np.zeros((2, 2), np.int64), np.zeros(2, np.uint8)):
        index = plan_with(one.index(), ("calls", 0, 1, "requant"), {**fields, field: wrong})
        assert refused(tmp_path / "p.qrt", index)
    missing = {key: value for key, value in fields.items() if key != field}
    index = plan_with(one.index(), ("calls", 0, 1, "requant"), missing)
    assert f"requant: {field} is missing" in refused(tmp_path / "p.qrt", index)


def test_arguments_that_are_missing_or_unknown(tmp_path: Path) -> None:
    for one in one_calls():
        for name in ENTRIES[one.name].required:
            fewer = {key: value for key, value in one.arguments.items() if key != name}
            message = refused(tmp_path / "p.qrt", plan_with(one.index(), ("calls", 0, 1), fewer))
            assert f"{one.name}: {name} is missing" in message
        for name in ("isa", "stored", "__class__", "self", ""):
            more = {**one.arguments, name: "ref"}
            assert "expected only the names" in refused(
                tmp_path / "p.qrt", plan_with(one.index(), ("calls", 0, 1), more)
            )


@pytest.mark.parametrize("name", ["bind_", "bind", "decode", "Executable", "bind_gemm ", "__class__", "", "bind_none"])
def test_names_of_no_entry(name: str, tmp_path: Path) -> None:
    index = plan_with(index_of(TWO, tmp_path / "p.qrt"), ("calls", 0, 0), name)
    assert "unknown entry" in refused(tmp_path / "p.qrt", index)


# -- the rest of the index -------------------------------------------------------------------------------------------


def test_a_header_alone(tmp_path: Path) -> None:
    """The sum of no bytes copied them from no address, which a sanitizer reports."""
    pack(tmp_path / "p.qrt", index_of(TWO, tmp_path / "p.qrt"))
    head = bytearray((tmp_path / "p.qrt").read_bytes()[: SIZE - 8])
    struct.pack_into("=Q", head, 48, SIZE)
    struct.pack_into("=Q", head, 72, kernel_calls.checksum(b""))
    (tmp_path / "p.qrt").write_bytes(bytes(head) + struct.pack("=Q", kernel_calls.checksum(bytes(head))))
    with pytest.raises(qrt.errors.ModelError, match="is damaged: its index is missing"):
        qrt.load_program(tmp_path / "p.qrt")


def places_of(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values, but of those inside of calls, which have tests above."""
    yield at
    if at and at[-1] == "calls":
        return
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple | list) else ()
    for key, each in children:
        yield from places_of(each, (*at, key))


def test_packed_weights_and_offsets_of_other_numbers(tmp_path: Path) -> None:
    index = index_of(OPEN, tmp_path / "p.qrt")
    calls, offsets = len(index["plans"][0]["calls"]), index["plans"][0]["operands"][2]
    for packed in ((), (None,) * (calls + 1)):
        message = refused(tmp_path / "p.qrt", plan_with(index, ("packed",), packed))
        assert f"a plan has {calls} calls, but packed weights for {len(packed)}" in message
    message = refused(tmp_path / "p.qrt", plan_with(index, ("operands", 2), offsets[:-1]))
    assert f"operands and {len(offsets) - 1} offsets" in message


@pytest.mark.parametrize("text", [STATE, OPEN])
def test_every_place_of_the_index(text: str, tmp_path: Path) -> None:
    """Texts where arrays are expected, arrays for numbers, numbers for texts."""
    index = decoded(index_of(text, tmp_path / "p.qrt"))
    for at in places_of(index):
        if at and at[0] == "program":
            continue  # the text is read when it is needed
        for wrong in (Fields(a=1), {}, 1.5, ((),), np.array(3), np.array([b"a"]).view(np.uint8).reshape(1, 1)):
            changed: Index = replaced(index, at, wrong)
            is_constant = at[2:3] == ("bases",) and isinstance(
                wrong, np.ndarray
            )  # in the place of an input: it is right
            if at and not is_constant:
                assert refused(tmp_path / "p.qrt", changed), (at, wrong)


def test_a_state_that_is_no_array_and_a_port_whose_name_is_no_text(tmp_path: Path) -> None:
    index = index_of(STATE, tmp_path / "p.qrt")
    for state in (3, None, "x", (1, 2, 3), DtypeName("i1")):
        assert refused(tmp_path / "p.qrt", plan_with(index, ("states", 0, 1), state))
    for shape, dtype in (((3,), np.int16), ((4,), np.int8), ((), np.int8)):
        message = refused(tmp_path / "p.qrt", plan_with(index, ("states", 0, 1), np.zeros(shape, dtype)))
        assert "array 3 of a plan" in message
    states = index["plans"][0]["states"]
    assert refused(tmp_path / "p.qrt", plan_with(index, ("states",), ()))
    message = refused(tmp_path / "p.qrt", plan_with(index, ("states",), (*states, *states)))
    assert "two states have the same name" in message
    for name in (3, None, ("x",), np.array(1)):
        for kind in ("inputs", "outputs"):
            assert "expected a text" in refused(tmp_path / "p.qrt", replaced(index, (kind, 0, 0), name))
    twice = replaced(index, ("outputs", 1, 0), index["outputs"][0][0])
    assert "two outputs have the same name" in refused(tmp_path / "p.qrt", twice)


@pytest.mark.parametrize("rounds", [1 << 62, 1_000_001, -1, 1.5, None, np.array(5)])
def test_rounds_of_a_loop(rounds: Any, tmp_path: Path) -> None:
    """A loop without an end ran for as long as the file said."""
    index = index_of(LOOP, tmp_path / "p.qrt")
    assert "counts: " in refused(tmp_path / "p.qrt", plan_with(index, ("counts", 3), rounds))


@pytest.mark.parametrize("target", [-1, 1 << 40, 1 << 20, 1.0, None, True])
def test_targets_of_jumps(target: Any, tmp_path: Path) -> None:
    index = index_of(LOOP, tmp_path / "p.qrt")
    at = ("calls", call_number(index, "bind_control"), 1)
    for number, (name, arguments) in enumerate(index["plans"][0]["calls"]):
        if name == "bind_control" and "target" in arguments:
            at = ("calls", number, 1)
    assert refused(tmp_path / "p.qrt", plan_with(index, (*at, "target"), target))
    assert refused(tmp_path / "p.qrt", plan_with(index, (*at, "cost"), -1))


@pytest.mark.parametrize("rank", [32, 33, 40])
def test_operands_of_more_dimensions_than_numpy_broadcasts(rank: int, tmp_path: Path) -> None:
    """NumPy raises a RuntimeError of its own."""
    (one, *_) = [one for one in one_calls() if one.name == "bind_binary"]
    for name in ("a_shape", "b_shape"):
        index = plan_with(one.index(), ("calls", 0, 1, name), (1,) * rank)
        assert "a shape must have at most 31 dimensions" in refused(tmp_path / "p.qrt", index)
    for changed in (
        {"a_shape": (1,) * rank},
        {"b_shape": (1,) * rank},
        {"a_shape": (1,) * rank, "b_shape": (1,) * rank},
    ):
        with pytest.raises(qrt.errors.KernelError, match="a shape must have at most 31 dimensions"):
            kernel_calls.bind_binary(**{**one.arguments, "isa": "ref", **changed})


@pytest.mark.parametrize("value", [-(1 << 31), -256, 256, (1 << 31) - 1])
def test_zero_points_of_mixed_products(value: int) -> None:
    """The absolute value of the least int32 is negative, and below every bound."""
    (one, *_) = [one for one in one_calls() if one.name == "bind_mixed_matmul"]
    points = np.zeros_like(one.arguments["zero_points"])
    points.flat[-1] = value
    with pytest.raises(qrt.errors.KernelError, match="zero_points must be from -255 to 255"):
        kernel_calls.bind_mixed_matmul(**{**one.arguments, "isa": "ref", "zero_points": points})
