"""If, Loop and Scan, as programs that run, beside the reference evaluator and ONNX Runtime.

Hazards: a tensor of the graph around that a body alone reads, and that folding would take away; both branches with the
same names; a loop of no round; a condition that is computed; elements of several axes, backwards.
"""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import qrt
from qrt.errors import ModelError
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port, tensor

X, Y = np.float32([1, -2, 3]), np.float32([0.5, 4, -1])


def graph(nodes: Any, inputs: Any, outputs: Any, **constants: Any) -> Any:
    """A graph in another one. Ports are names, of tensors whose types follow, or values."""
    ports = [
        [helper.make_empty_tensor_value_info(each) if isinstance(each, str) else each for each in side]
        for side in (inputs, outputs)
    ]
    held = [tensor(name, value) for name, value in constants.items()]
    return helper.make_graph(nodes, "inner", *ports, held)


def check(content: bytes, **inputs: Any) -> list[Any]:
    """What a model gives, which is what both others give."""
    found = run(content, **inputs)
    results = [ReferenceEvaluator(onnx.load_from_string(content)).run(None, inputs)]
    for wanted in [*results, *([run_oracle(content, inputs)] if has_oracle() else [])]:
        for ours, theirs in zip(found, wanted, strict=True):
            assert ours.dtype == np.asarray(theirs).dtype
            np.testing.assert_array_equal(ours, theirs)
    return found


def refused(said: str, content: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        imported(content)
    assert said in str(caught.value)


# -- If --------------------------------------------------------------------------------------------------------------


def choosing(condition: Any = None, **branches: Any) -> bytes:
    """``y`` is x + z where ``c`` holds, else 2 * z; z = -x is computed around both."""
    branches = {
        "then_branch": graph([node("Add", ["x", "z"], ["t"])], [], ["t"]),
        "else_branch": graph([node("Mul", ["z", "two"], ["t"])], [], ["t"], two=np.float32(2)),
        **branches,
    }
    made = [node("Sub", ["w", "x"], ["z"]), node("If", ["c"], ["y"], **branches)]
    constants = {"w": Y} if condition is None else {"w": Y, "c": condition}
    ports = [port("x", shape=(3,)), *([port("c", "BOOL", ())] if condition is None else [])]
    return model(made, ports, [port("y")], constants)


@pytest.mark.parametrize("condition", [True, False])
def test_one_of_two_branches(condition: bool) -> None:
    (y,) = check(choosing(), x=X, c=np.array(condition))
    np.testing.assert_array_equal(y, X + (Y - X) if condition else (Y - X) * 2)
    check(choosing(np.array([condition])), x=X)


def test_a_condition_that_is_known_leaves_one_branch() -> None:
    """Even if the other one has another rank, or is not supported: exporters write such for a squeeze."""
    strange = graph([node("NoSuch", ["x"], ["t"])], [], ["t"])
    (y,) = run(choosing(np.array(True), else_branch=strange), x=X)
    np.testing.assert_array_equal(y, X + (Y - X))
    assert "scf" not in str(imported(choosing(np.array(True), else_branch=strange)))
    refused("NoSuch (unknown operator)", choosing(else_branch=strange))


def test_a_branch_may_give_what_is_around_it_or_a_constant() -> None:
    around, held = graph([], [], ["x"]), graph([], [], ["k"], k=np.float32([7, 8, 9]))
    content = choosing(then_branch=around, else_branch=held)
    assert run(content, x=X, c=np.array(True))[0].tolist() == X.tolist()  # the runtime refuses such a file
    assert run(content, x=X, c=np.array(False))[0].tolist() == [7, 8, 9]


def test_branches_of_two_shapes_have_an_open_size() -> None:
    one = graph([node("Concat", ["x", "z"], ["t"], axis=0)], [], ["t"])
    assert [len(check(choosing(then_branch=one), x=X, c=np.array(c))[0]) for c in (True, False)] == [6, 3]
    whole = graph([node("Cast", ["x"], ["t"], to=7)], [], ["t"])
    refused("If (branches that return y as tensor<3xi64> and tensor<3xf32>)", choosing(then_branch=whole))


def test_branches_within_branches() -> None:
    inner = graph([node("Add", ["s", "z"], ["u"])], [], ["u"])
    other = graph([node("Mul", ["s", "x"], ["u"])], [], ["u"])
    steps = [node("Add", ["x", "x"], ["s"]), node("If", ["c"], ["t"], then_branch=inner, else_branch=other)]
    content = choosing(then_branch=graph(steps, [], ["t"]))
    for condition in (True, False):
        check(content, x=X, c=np.array(condition))


def test_what_a_branch_reads_is_not_folded_away() -> None:
    """The operator between casts stays, where a branch reads what it gives as floats."""
    body = graph([node("Neg", ["r"], ["t"])], [], ["t"])
    other = graph([node("DequantizeLinear", ["q", "s"], ["t"])], [], ["t"])
    made = [
        node("DequantizeLinear", ["x", "s"], ["d"]), node("Sigmoid", ["d"], ["r"]),
        node("QuantizeLinear", ["r", "s", "z"], ["q"]), node("If", ["c"], ["y"], then_branch=body, else_branch=other),
    ]  # fmt: skip
    ports = [port("x", "INT8", (3,)), port("c", "BOOL", ())]
    content = model(made, ports, [port("y")], {"s": np.float32(0.125), "z": np.int8(0)})
    x = np.int8([-3, 0, 50])
    for condition in (True, False):
        (y,) = run(content, x=x, c=np.array(condition))
        if has_oracle():
            np.testing.assert_allclose(y, run_oracle(content, {"x": x, "c": np.array(condition)})[0], atol=1e-7)


def test_wrong_branches() -> None:
    two = graph([], [], ["x", "z"])
    refused(
        "<bytes>: node 1 If: a branch must have no inputs and 1 output",
        choosing(then_branch=two),
    )
    refused("its condition must be one bool, got tensor<2xi1>", choosing(np.array([True, True])))
    wrong = graph([node("Add", ["x", "v"], ["t"])], [], ["t"], v=np.float32([1, 2]))
    refused("<bytes>: node 1 If, else_branch: node 0 Add: the shapes of its inputs", choosing(else_branch=wrong))
    content = choosing(then_branch=wrong).replace(b"then_branch", b"tnen_branch")
    refused("node 1 If: attribute 'then_branch' is missing, expected a graph", content)


# -- Loop ------------------------------------------------------------------------------------------------------------


def looping(body: Any, *, inputs: Any = (), trips: Any = None, condition: Any = None, outputs: int = 1) -> bytes:
    """A loop that carries x; ``M`` and ``c`` are inputs where no constant is given, and absent where that is ""."""
    names, constants, ports = [], {"w": Y}, [port("x", shape=(3,))]
    for name, value, shaped in (("M", trips, port("M", "INT64", ())), ("c", condition, port("c", "BOOL", ()))):
        names.append("" if isinstance(value, str) else name)
        if value is None:
            ports.append(shaped)
        elif not isinstance(value, str):
            constants[name] = value
    results = [f"y{i}" for i in range(outputs)]
    made = [node("Mul", ["x", "w"], ["z"]), node("Loop", [*names, "x"], results, body=body)]
    return model(made, ports, [helper.make_empty_tensor_value_info(name) for name in results], constants)


def body(*more: Any, goes: str = "on", outputs: Any = (), **constants: Any) -> Any:
    """Each round adds z, and the number of the round."""
    steps = [
        node("Cast", ["i"], ["f"], to=1), node("Add", ["v", "z"], ["a"]), node("Add", ["a", "f"], ["b"]),
        node("Identity", ["go"], ["on"]), *more,
    ]  # fmt: skip
    ports = [port("i", "INT64", ()), port("go", "BOOL", ()), port("v", shape=(3,))]
    return graph(steps, ports, [port(goes, "BOOL", ()), "b", *outputs], **constants)


BELOW = (node("ReduceMax", ["b"], ["m"], keepdims=0), node("Less", ["m", "most"], ["less"]))


@pytest.mark.parametrize("trips", [0, 1, 7])
def test_a_trip_count(trips: int) -> None:
    content, m = looping(body()), np.int64(trips)
    for condition in (True, False):
        check(content, x=X, M=np.array(m), c=np.array(condition))
    (y,) = check(looping(body(), trips=m, condition=np.array(True)), x=X)
    (absent,) = run(looping(body(), trips=m, condition=""), x=X)  # the evaluator takes an absent condition for false
    np.testing.assert_array_equal(absent, y)


def test_a_condition() -> None:
    made = body(*BELOW, goes="less", most=np.float32(40))
    (y,) = check(looping(made, trips=np.int64(1000), condition=np.array(True)), x=X)
    assert 40 <= y.max() < 80
    run(looping(made, trips="", condition=np.array(True)), x=X)
    check(looping(made, trips=np.int64(2), condition=np.array(True)), x=X)


def test_results_of_all_rounds() -> None:
    made, always = body(node("Neg", ["b"], ["n"]), outputs=["n"]), np.array(True)
    y, all_of_them = check(looping(made, trips=np.int64(4), condition=always, outputs=2), x=X)
    np.testing.assert_array_equal(all_of_them[-1], -y)
    numbers = looping(body(outputs=["f", "i"]), trips=np.int64(4), condition=always, outputs=3)
    found = run(numbers, x=X)  # ONNX Runtime gives the last number four times, where the number itself is a result
    assert [each.tolist() for each in found[1:]] == [[0, 1, 2, 3]] * 2


def test_loops_within_loops() -> None:
    """The inner one reads what both around it hold."""
    steps = [node("Add", ["u", "a"], ["p"]), node("Sub", ["p", "x"], ["o"]), node("Identity", ["g"], ["h"])]
    ports = [port("j", "INT64", ()), port("g", "BOOL", ()), port("u", shape=(3,))]
    inner = node("Loop", ["i", "go", "b"], ["q"], body=graph(steps, ports, [port("h", "BOOL", ()), "o"]))
    made = body(inner)
    made.output[1].name = "q"
    check(looping(made, trips=np.int64(3), condition=np.array(True)), x=X)


def test_a_loop_without_end_is_an_error_of_the_run() -> None:
    made = body(*BELOW, goes="less", most=np.float32(np.inf))
    program = qrt.compile(imported(looping(made, trips="", condition=np.array(True))))
    with pytest.raises(ModelError, match="steps"):
        program.run({"x": X}, max_steps=1000)


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_stacked_results_of_as_many_rounds_as_the_run_says(trips: int) -> None:
    scans = body(node("Neg", ["b"], ["n"]), outputs=["n"])
    content = looping(scans, condition="", outputs=2)
    last, stacked = run(content, x=X, M=np.array(trips))
    assert trips == 0 or stacked[-1].tolist() == (-last).tolist()
    assert stacked.shape == (trips, *last.shape)


def test_wrong_loops() -> None:
    refused(
        "<bytes>: node 1 Loop: it must have a trip count or a condition, but has neither",
        looping(body(), trips="", condition=np.array(True)),
    )
    scans = body(node("Neg", ["b"], ["n"]), outputs=["n"])
    refused("Loop (with scan outputs and a condition known only at run time)",
            looping(scans, trips=np.int64(2), outputs=2))  # fmt: skip
    refused("Loop (scan outputs, and a number of iterations that is known only at run time)",
            looping(body(*BELOW, goes="less", outputs=["b"], most=np.float32(1)), trips=np.int64(2), outputs=2,
                    condition=""))  # fmt: skip
    refused(
        "node 1 Loop: its body must have as many inputs as the node (at least 2)",
        looping(body(), outputs=2),
    )
    refused("its trip count must be one int64, got tensor<2xi64>", looping(body(), trips=np.int64([1, 2])))
    grows = body(node("Concat", ["b", "b"], ["w2"], axis=0))
    grows.output[1].name = "w2"
    refused("Loop (v, whose type changes between iterations: tensor<3xf32>, then tensor<6xf32>)", looping(grows))


# -- Scan ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(0, 0, 0), (1, 0, 1), (-1, -1, -1)])
@pytest.mark.parametrize("directions", [(0, 0, 0), (1, 0, 1), (0, 1, 0)])
def test_scan(axes: tuple[int, ...], directions: tuple[int, ...]) -> None:
    """Running sums of rows of one tensor and columns of another."""
    steps = [node("Add", ["s", "p"], ["t"]), node("Sub", ["t", "q"], ["n"]), node("Mul", ["n", "z"], ["o"])]
    made = graph(steps, [port("s", shape=(3,)), port("p", shape=(3,)), port("q", shape=(3,))],
                 [port("n", shape=(3,)), port("o", shape=(3,))])  # fmt: skip
    attributes = {
        "num_scan_inputs": 2, "scan_input_axes": axes[:2], "scan_output_axes": axes[2:],
        "scan_input_directions": directions[:2], "scan_output_directions": directions[2:],
    }  # fmt: skip
    nodes = [node("Abs", ["x"], ["z"]), node("Scan", ["x", "a", "b"], ["y", "all"], body=made, **attributes)]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (3, 5) if axis else (5, 3)).astype(np.float32) for axis in axes[:2])
    ports = [port("x", shape=(3,)), port("a", shape=a.shape), port("b", shape=b.shape)]
    content = model(nodes, ports, [port("y"), port("all")])
    found = run(content, x=X, a=a, b=b)
    s, rounds = X, []
    for i in range(5):
        p, q = (each.take(4 - i if back else i, axis)
                for each, axis, back in zip((a, b), axes, directions, strict=False))  # fmt: skip
        s = s + p - q
        rounds.append(s * np.abs(X))
    np.testing.assert_array_equal(found[0], s)
    np.testing.assert_array_equal(found[1], np.stack(rounds[:: -1 if directions[2] else 1], axes[2]))
    if has_oracle():
        for ours, theirs in zip(found, run_oracle(content, {"x": X, "a": a, "b": b}), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_wrong_scans() -> None:
    made = graph([node("Add", ["s", "p"], ["n"])], ["s", "p"], ["n"])

    def scanning(shape: Any = (2, 3), **attributes: Any) -> bytes:
        said = {"num_scan_inputs": 1, **attributes}
        ports = [port("x", shape=(3,)), port("a", shape=shape)]
        return model([node("Scan", ["x", "a"], ["y"], body=made, **said)], ports, [port("y")])

    assert run(scanning(), x=X, a=np.ones((2, 3), np.float32))[0].tolist() == (X + 2).tolist()
    for rows in (1, 4):  # an axis of open size is scanned by a loop whose number of rounds the run knows
        assert run(scanning((None, 3)), x=X, a=np.ones((rows, 3), np.float32))[0].tolist() == (X + rows).tolist()
    refused(
        "'scan_input_directions' must have 1 value, each 0 (forward) or 1 (reverse), got [2]",
        scanning(scan_input_directions=[2]),
    )
    refused("attribute 'scan_input_axes' must have 1 axis, got [0, 1]", scanning(scan_input_axes=[0, 1]))
    refused("the axis must be from -2 to 1, got 2", scanning(scan_input_axes=[2]))
    refused("node 0 Scan: num_scan_inputs must be from 1 to 2, and", scanning(num_scan_inputs=3))
