"""The frame around the kernels: what a Call, a Plan and the ISA table refuse, and that ISAs are chosen as asked."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import qrt
import qrt.kernels
from qrt import numerics
from qrt._ext.kernels import Executable, Frame, KernelCall, bind_control, bind_copy, bind_dcast, bind_gemm, bind_qcast
from qrt.errors import KernelError

REQUANT = numerics.requant_parameters("fixed", "i8", -128, 127, [(0.25,)], [(1.0,)], [1])


def dcast(shape: tuple[int, ...] = (2, 3), scale: float = 0.5) -> KernelCall:
    return bind_dcast(isa="ref", expressed="f32", storage="i8", shape=shape, scales=[scale], zero_points=[0])


def qcast(shape: tuple[int, ...] = (2, 3), **changed: Any) -> KernelCall:
    given: dict[str, Any] = {
        "isa": "ref", "expressed": "f32", "storage": "i8", "shape": shape, "scales": [0.5], "zero_points": [0],
        "storage_min": -128, "storage_max": 127, "rounding": "half_even", "zero_point": "before", "scale": "divide",
    }  # fmt: skip
    return bind_qcast(**(given | changed))


def gemm(**changed: Any) -> KernelCall:
    given: dict[str, Any] = {
        "isa": "ref", "a": "i8", "b": "i8", "m": 2, "n": 3, "k": 4, "a_zero_points": [0], "b_zero_points": [0],
        "requant": REQUANT,
    }  # fmt: skip
    return bind_gemm(**(given | changed))


class Unaligned:
    """Float32 values at an odd address."""

    array = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)


def read_only() -> Any:
    array = np.zeros((2, 3), np.int8)
    array.flags.writeable = False
    return array


X, OUT = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int8)


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ((X,), "qcast: expected 2 operands, got 1"),
        ((X, OUT, OUT), "qcast: expected 2 operands, got 3"),
        (([1.0], OUT), "qcast: operand 0 must be an array of float32, got a list"),
        ((X.astype(np.float64), OUT), "qcast: operand 0 must be an array of float32, got dtype float64"),
        ((X.astype(">f4"), OUT), "qcast: operand 0 must be an array of float32, got dtype >f4"),
        ((X[:, :2], OUT), "qcast: operand 0 must have 6 elements \\(shape \\(2, 3\\)\\), got 4"),
        ((np.zeros((3, 2), np.float32).T, OUT), "qcast: operand 0 must be C-contiguous and aligned"),
        ((Unaligned.array, OUT), "qcast: operand 0 must be C-contiguous and aligned"),
        ((X, read_only()), "qcast: operand 1 must be writable, got a read-only array"),
    ],
)
def test_a_call_refuses_operands_that_are_not_what_was_bound(operands: tuple[Any, ...], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        qcast()(*operands)


def test_a_call_refuses_an_output_over_its_input() -> None:
    memory = np.zeros(64, np.uint8)
    with pytest.raises(KernelError, match="qcast: the output overlaps operand 0"):
        qcast()(memory[:24].view(np.float32), memory[23:29].view(np.int8))
    qcast()(memory[:24].view(np.float32), memory[24:30].view(np.int8))


def test_a_call_says_what_it_takes() -> None:
    call = gemm(bias="i32")
    assert (call.name, call.isa) == ("gemm", "ref")
    assert call.operand_shapes == ((1, 2, 4), (1, 4, 3), (3,), (1, 2, 3))
    assert [str(dtype) for dtype in call.operand_dtypes] == ["int8", "int8", "int32", "int8"]
    with pytest.raises(TypeError, match="bind_"):
        KernelCall()


def test_a_call_without_an_entry_is_never_made() -> None:
    """Not by its class alone either: it would be called all the same."""
    for make in (
        KernelCall,
        lambda: KernelCall.__new__(KernelCall),
        lambda: KernelCall.__new__(KernelCall, None),
    ):
        with pytest.raises(TypeError, match="a KernelCall comes from a bind_"):
            make()
    with pytest.raises(TypeError):
        executable(calls=[dcast, dcast, dcast])
    with pytest.raises(TypeError):
        Executable.__new__(Executable)  # type: ignore[call-arg]


def test_a_frame_without_an_executable_does_not_run() -> None:
    with pytest.raises(KernelError, match=r"a frame comes from Executable.bind"):
        Frame().run()


def test_a_kept_call_may_write_over_a_scalar() -> None:
    """What is compared of two arrays without axes is no memory. UBSan knows."""
    q = qrt.QuantTensor(np.uint8(3), qrt.UniformType("u8", "f32", 0.5))
    for _ in range(2):
        assert qrt.relu(q, out=q).storage == 3


@pytest.mark.parametrize(
    ("bind", "message"),
    [
        (lambda: qcast(isa="sse9"), "qcast: unknown ISA 'sse9', expected one that this machine has: ref"),
        (lambda: qcast(storage="i4"), "qcast: unknown storage 'i4'"),
        (lambda: qcast(expressed="f8"), "qcast: unknown expressed type 'f8'"),
        (lambda: qcast(rounding="up"), "qcast: unknown rounding 'up', expected one of half_even"),
        (lambda: qcast(shape=(-1,)), "qcast: shape"),
        (lambda: qcast(shape=(2**30, 2**30)), "qcast: a shape must have at most 31 dimensions"),
        (lambda: qcast(scales=[]), "qcast: scales has 0 values, expected 1"),
        (lambda: qcast(step=(0, 1)), "qcast: scales has 1 values, expected 3"),
        (lambda: qcast(step=(1,)), "qcast: step has 1 entries, expected 2"),
        (lambda: qcast(block=(1, 0)), "qcast: block"),
        (lambda: qcast(shape=(5,), block=(2,), step=(1,), scales=[1.0] * 3, zero_points=[0] * 3), "must divide"),
        (lambda: qcast(scales=[0.0]), "qcast: scales must be positive and finite"),
        (lambda: qcast(scales=[np.nan]), "qcast: scales"),
        (lambda: qcast(scales=[0.1]), "qcast: scales must have values that float32 represents, got others"),
        (lambda: qcast(zero_points=[0.5]), "qcast: zero_points holds float64, expected int64"),
        (lambda: qcast(zero_points=[2**60]), "qcast: zero_points must be from -2\\*\\*40 to 2\\*\\*40"),
        (lambda: qcast(storage_min=-129), "qcast: the storage bounds must .* got -129:127"),
        (lambda: gemm(requant_steps=(0, 0, 1)), "gemm: requant.zero_point has 1 values, expected 3"),
        (lambda: gemm(b_constant=np.zeros(11, np.int8)), "gemm: the constant second operand must be"),
        (lambda: gemm(bias=np.zeros(2, np.int32)), "gemm: bias has 2 values, expected 3"),
        (lambda: gemm(bias=np.zeros(3, np.int8)), "gemm: the bias must be one of i32, i64, f32, got int8"),
        (lambda: gemm(bias="f32"), "gemm: a float bias"),
        (lambda: gemm(b_index=[1]), "gemm: b_index must be indices of the 1 matrices"),
        (lambda: gemm(k_block=2), "gemm: the rule fixed needs block_multiplier"),
        (lambda: gemm(m=2**50), "gemm: batch, m, n, k"),
        (lambda: gemm(requant=SimpleNamespace(**vars(REQUANT) | {"rule": "odd"})), "unknown requantization rule 'odd'"),
        (lambda: bind_copy(dtype=object, shapes=[], source_strides=[], target_strides=[], source_sizes=[],
                                 target_size=0), "copy: items must have 1, 2, 4 or 8 bytes"),
    ],
)  # fmt: skip
def test_binding_refuses_what_would_leave_memory_or_meaning(bind: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        bind()


def test_bound_arrays_are_copies() -> None:
    scales, weights = np.array([0.5]), np.ones((4, 3), np.int8)
    call, product = qcast(scales=scales), gemm(b_constant=weights)
    scales[:], weights[:] = 100, 100
    out, results = np.zeros((2, 3), np.int8), np.zeros((2, 3), np.int8)
    call(np.full((2, 3), 2, np.float32), out)
    product(np.full((2, 4), 4, np.int8), results)
    assert (out == 4).all()
    assert (results == 5).all()


# ---- ISAs ----


def test_use_forces_an_isa_and_restores_it() -> None:
    best = qrt.kernels.active()
    assert qrt.kernels.available()[0] == "ref"
    for name in qrt.kernels.available():
        with qrt.kernels.use(name):
            assert qrt.kernels.active() == name
    assert qrt.kernels.active() == best


def test_use_refuses_an_unknown_isa() -> None:
    with (
        pytest.raises(KernelError, match="unknown ISA 'mmx', expected one that this machine has: ref"),
        qrt.kernels.use("mmx"),
    ):
        pass


@pytest.mark.parametrize(("given", "expected"), [("ref", "ref"), ("mmx", "QRT_ISA: unknown ISA 'mmx'")])
def test_the_environment_chooses_an_isa(given: str, expected: str) -> None:
    program = "import qrt.kernels as k\ntry: print(k.active())\nexcept Exception as e: print(type(e).__name__, e)"
    environment = os.environ | {"QRT_ISA": given}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert expected in found.stdout


# ---- executables ----


def executable(**changed: Any) -> Executable:
    """qcast, dcast, qcast: from an external float array by the arena to an external array of int8."""
    given: dict[str, Any] = {
        "calls": [qcast(), dcast(), qcast(scales=[2.0])],
        "operands": [[(1, 0), (0, 0)], [(0, 0), (0, 8)], [(0, 8), (2, 0)]],
        "bases": [None, 0, 1],
        "externals": [(np.float32, (2, 3)), (np.int8, (2, 3))],
        "inputs": 1,
        "outputs": 1,
        "arena_bytes": 32,
        "most_rounds": 10,
    }
    return Executable(**given | changed)


def test_an_executable_runs_its_calls_in_order() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = executable()
    for _ in range(2):
        (out,) = made.run((x,))
        np.testing.assert_array_equal(out, np.rint(x / 2))
    results = np.zeros((2, 3), np.int8)
    frame = made.bind((x, results))
    x[:] = 8
    frame.run()
    assert (results == 4).all()


def over(**changed: Any) -> Executable:
    """qcast, dcast, qcast over four external arrays, of which the last three are written."""
    shape = (2, 3)
    given: dict[str, Any] = {
        "operands": [[(0, 0), (1, 0)], [(1, 0), (2, 0)], [(2, 0), (3, 0)]],
        "bases": [0, 1, 2, 3],
        "externals": [(np.float32, shape), (np.int8, shape), (np.float32, shape), (np.int8, shape)],
        "outputs": 0,
        "arena_bytes": 0,
    }
    return executable(**given | changed)


def test_an_executable_runs_over_arrays_of_any_shape_and_measures_its_calls() -> None:
    x = np.arange(6, dtype=np.float32)
    arrays = [x, np.zeros((3, 2), np.int8), np.zeros((2, 3), np.float32), np.zeros((1, 6), np.int8)]
    seconds = np.zeros(3)
    assert over().run_over(arrays, seconds=seconds) is None
    np.testing.assert_array_equal(arrays[2].ravel(), x)
    np.testing.assert_array_equal(arrays[3].ravel(), np.rint(x / 2))
    assert (seconds > 0).all()
    before = seconds.copy()
    assert over().run_over(arrays, None, 5, seconds) == 5
    assert (seconds > before).all()
    for wrong in (np.zeros(2), np.zeros(3, np.float32), np.zeros(6)[::2], [0.0, 0.0, 0.0]):
        with pytest.raises(KernelError, match="the seconds must be a writable float64 array of 3 elements"):
            over().run_over(arrays, seconds=wrong)  # type: ignore[arg-type]


def test_an_executable_runs_over_arrays_that_share_memory_where_no_step_sees_both() -> None:
    """So do the temporaries of a plan, whose lifetimes differ."""
    x, memory = np.arange(6, dtype=np.float32), np.zeros(24, np.uint8)
    early, late = memory[:6].view(np.int8), memory[:6].view(np.int8)
    over().run_over([x, early, np.zeros(6, np.float32), late])
    np.testing.assert_array_equal(late, np.rint(x / 2))
    with pytest.raises(KernelError, match=r"the output of step 1 \(dcast\) overlaps its operand 0"):
        over().run_over([x, early, memory.view(np.float32), np.zeros(6, np.int8)])


def test_an_executable_refuses_arrays_to_run_over_that_do_not_fit() -> None:
    arrays = [X, np.zeros((2, 3), np.int8), np.zeros((2, 3), np.float32), OUT]
    with pytest.raises(KernelError, match="executable: expected 4 arrays, got 1"):
        over().run_over([X])
    with pytest.raises(KernelError, match="executable: array 0 must be an array of float32, got dtype float64"):
        over().run_over([X.astype(np.float64), *arrays[1:]])
    with pytest.raises(KernelError, match="executable: array 3 must be writable, got a read-only array"):
        over().run_over([*arrays[:3], read_only()])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"operands": [[(1, 0), (0, 0)]]}, "operands for each of the 3 calls, got them for 1"),
        ({"calls": [qcast(), None, qcast()]}, "step 1 needs a call"),
        ({"operands": [[(1, 0)], [(0, 0), (0, 8)], [(0, 8), (2, 0)]]}, "step 0 needs a call, and a place for each"),
        ({"arena_bytes": 31}, r"operand 1 of step 1 \(dcast\), 24 bytes at 8, does not fit into 31"),
        ({"operands": [[(1, 0), (0, -1)], [(0, 0), (0, 8)], [(0, 8), (2, 0)]]}, "6 bytes at -1, does not fit"),
        ({"operands": [[(1, 0), (0, 0)], [(0, 0), (0, 6)], [(0, 6), (2, 0)]]}, "24 bytes at 6, does not fit"),
        ({"operands": [[(1, 0), (0, 0)], [(0, 0), (0, 4)], [(0, 4), (2, 0)]]}, "overlaps its operand 0"),
        ({"operands": [[(1, 4), (0, 0)], [(0, 0), (0, 8)], [(0, 8), (2, 0)]]}, "24 bytes at 4, does not fit into 24"),
        ({"operands": [[(2, 0), (0, 0)], [(0, 0), (0, 8)], [(0, 8), (2, 0)]]}, "24 bytes at 0, does not fit into 6"),
        (
            {"operands": [[(1, 0), (0, 0)], [(0, 0), (0, 8)], [(0, 8), (1, 0)]]},
            "must not write to a constant or an input",
        ),
        (
            {"bases": [None, np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int8)]},
            "must not write to a constant or an input",
        ),
        ({"bases": [None, np.zeros((3, 2), np.float32).T, 1]}, "must be C-contiguous"),
        ({"bases": [None, np.zeros(24, np.int8), 1]}, "must be aligned"),
        ({"bases": [None, 0, 2]}, "names array 2 of 2"),
        ({"bases": [None, 0, -1]}, "names array -1 of 2"),
        ({"inputs": 2}, "arrays are inputs, outputs, then states"),
        ({"outputs": -1}, "arrays are inputs, outputs, then states"),
        ({"externals": [(np.float32, (2, -3)), (np.int8, (2, 3))]}, "executable: shape"),
    ],
)
def test_an_executable_refuses_places_that_do_not_fit(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        executable(**changed)


def test_an_executable_refuses_arrays_that_do_not_fit() -> None:
    made = executable()
    with pytest.raises(KernelError, match="expected 1 inputs, got 0"):
        made.run(())
    with pytest.raises(KernelError, match="expected 0 states, got 1"):
        made.run((X,), (X,))
    for wrong in (X.astype(np.float64), X.reshape(3, 2), X.reshape(6), np.repeat(X, 2, 1)[:, ::2], None):
        with pytest.raises(KernelError, match="executable: input 0"):
            made.run((wrong,))  # type: ignore[arg-type]
        with pytest.raises(KernelError, match="executable: array 0"):
            made.bind((wrong, OUT))  # type: ignore[arg-type]
    with pytest.raises(KernelError, match="array 1 must be writable, got a read-only array"):
        made.bind((X, read_only()))
    memory = np.zeros(64, np.uint8)
    with pytest.raises(KernelError, match="array 1, to which the program writes, must not overlap array 0"):
        made.bind((memory[:24].view(np.float32).reshape(2, 3), memory[:6].view(np.int8).reshape(2, 3)))
    with pytest.raises(KernelError, match="expected 2 arrays, got 1"):
        made.bind((X,))


def test_an_executable_keeps_its_constants_and_states() -> None:
    constant = np.full((2, 3), 6, np.float32)
    made = executable(bases=[None, constant, 1], externals=[(np.float32, (1,)), (np.int8, (2, 3))], outputs=0)
    del constant
    state = np.zeros((2, 3), np.int8)
    assert made.run((np.zeros(1, np.float32),), (state,)) == []
    assert (state == 3).all()
    with pytest.raises(KernelError, match="executable: state 0"):
        made.run((np.zeros(1, np.float32),), (read_only(),))


# ---- control ----


def control(kind: str, target: int = 0, cost: int = 0) -> KernelCall:
    return bind_control(kind=kind, target=target, cost=cost)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "go"}, "control: unknown kind 'go'"),
        ({"kind": "jump", "target": -1}, "jump: target, cost"),
        ({"kind": "jump", "cost": -1}, "jump: target, cost"),
        ({"kind": "unless", "target": 2**41}, "unless: target, cost"),
        ({"kind": "round", "cost": 0}, "round: the cost is 0"),
    ],
)
def test_control_that_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        bind_control(**given)


def test_control_does_not_run_alone() -> None:
    with pytest.raises(KernelError, match="jump: bad argument"):
        control("jump")()
    with pytest.raises(KernelError, match="unless: bad argument"):
        control("unless")(np.zeros(1, np.bool_))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([control("jump", 4)], r"step 0 \(jump\) leads to step 4 of 2"),
        ([control("jump", 0)], r"step 0 \(jump\) leads to step 0 of 2"),
        ([control("unless", 3)], r"step 0 \(unless\) leads to step 3 of 2"),
        ([control("round", cost=1), control("jump", 1)], r"step 1 \(jump\) leads to step 1 of 3, which is not a round"),
        ([control("jump", 1), control("unless", 0)], r"step 1 \(unless\) leads to step 0 of 3, which is not a round"),
    ],
)
def test_every_jump_back_begins_a_round(steps: list[KernelCall], message: str) -> None:
    """So that every loop ends: a file whose checksum fits may say anything."""
    places = [[(3, 0)] if call.name == "unless" else [] for call in steps]
    with pytest.raises(KernelError, match=message):
        executable(
            calls=[*steps, qcast()],
            operands=[*places, [(1, 0), (2, 0)]],
            bases=[None, 0, 1, np.ones(1, np.bool_)],
        )


def test_a_loop_ends_by_its_rounds_or_by_the_steps_of_a_run() -> None:
    endless = [control("round", cost=3), qcast(), control("jump", 0, cost=2)]
    made = executable(calls=endless, operands=[[], [(1, 0), (2, 0)], []], bases=[None, 0, 1])
    for _ in range(2):
        with pytest.raises(KernelError, match=r"step 0 \(round\): does not end within 10 rounds"):
            made.run((X,))
    with pytest.raises(KernelError, match=r"step 2 \(jump\): does not end within max_steps, the limit of steps"):
        made.run((X,), (), 4)
    with pytest.raises(KernelError, match=r"step 0 \(round\): does not end within 7 rounds"):
        made.run_over([X, np.zeros((2, 3), np.int8)], 7)
    with pytest.raises(KernelError, match=r"step 0 \(round\): does not end within max_steps"):
        made.run_over([X, np.zeros((2, 3), np.int8)], 7, 5000)


def test_jumps_are_counted_from_the_first_step() -> None:
    past = [control("round", cost=2), control("unless", 14, cost=5), qcast(), control("jump", 14, cost=1)]
    segment = executable(
        calls=past,
        operands=[[], [(1, 0)], [(0, 0), (2, 0)], []],
        bases=[0, 1, 2],
        externals=[(np.float32, (2, 3)), (np.bool_, (1,)), (np.int8, (2, 3))],
        inputs=2,
        outputs=0,
        first_step=10,
    )
    for condition, left in ((True, 92), (False, 98)):
        out = np.zeros((2, 3), np.int8)
        assert segment.run_over([X + 1, np.bool_([condition]), out], None, 100) == left
        assert (out == 2 * condition).all()
