"""Functions of a file, whose nodes stand in place of those that call them, beside NumPy and ONNX Runtime.

Hazards: inner names that are equal to one another, to names of the graph or to generated ones; operands that are
absent; attributes that are given through two calls; a call that ends in another; functions without end, and many.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from qrt.errors import ModelError
from qrt.models.onnx.read import read
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port

X = np.float32([1, -2, 3])
PORTS = [port("x", shape=(3,))], [port("y", shape=(3,))]
OWN = {"domain": "own"}


def function(
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    nodes: Sequence[Any],
    *,
    opset: int = 17,
    attributes: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
    domain: str = "own",
) -> Any:
    """A function of a file."""
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    given = [helper.make_attribute(name, value) for name, value in (defaults or {}).items()]
    return helper.make_function(domain, name, inputs, outputs, nodes, opsets, list(attributes), given)


def call(name: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Any:
    """A node that calls a function."""
    return node(name, inputs, outputs, **OWN, **attributes)


def with_reference(made: Any, name: str, of: str, kind: int = onnx.AttributeProto.FLOAT) -> Any:
    """A node with one attribute more, which is an attribute of its function."""
    made.attribute.append(onnx.AttributeProto(name=name, type=kind, ref_attr_name=of))
    return made


def graph(nodes: Sequence[Any], output: str) -> Any:
    """A branch."""
    return helper.make_graph(nodes, "branch", [], [port(output)])


# g(a) = |-a| - a, h(a) = g(exp(a) + a), j = g or h by a flag.
G = function("g", ["a"], ["b"], [node("Neg", ["a"], ["t"]), node("Abs", ["t"], ["u"]), node("Add", ["u", "t"], ["b"])])
H = function("h", ["a"], ["b"], [node("Exp", ["a"], ["t"]), node("Sub", ["a", "t"], ["u"]), call("g", ["u"], ["b"])])
MANY = function(
    "many",
    ["a"],
    ["b"],
    [node("Neg", ["a"], ["t"]), call("g", ["t"], ["u"]), call("g", ["u"], ["v"]), node("Add", ["v", "t"], ["b"])],
)
IF = node(
    "If",
    ["k"],
    ["b"],
    then_branch=graph([call("h", ["t"], ["u"]), node("Add", ["u", "a"], ["v"])], "v"),
    else_branch=graph([call("g", ["a"], ["u"]), node("Sub", ["u", "t"], ["v"])], "v"),
)
J = function("j", ["a", "k"], ["b"], [node("Neg", ["a"], ["t"]), IF])
BODY = helper.make_graph(
    [call("h", ["s"], ["r"]), node("Identity", ["before"], ["after"])],
    "body",
    [port("round", "INT64", ()), port("before", "BOOL", ()), port("s", shape=(3,))],
    [port("after", "BOOL", ()), port("r", shape=(3,))],
)
LOOP = function("loop", ["a", "n"], ["b"], [node("Loop", ["n", "", "a"], ["b"], body=BODY)])
STEP = helper.make_graph(
    [call("h", ["s"], ["t"]), node("Add", ["t", "e"], ["next"]), node("Neg", ["next"], ["u"])],
    "step",
    [port("s", shape=()), port("e", shape=())],
    [port("next", shape=()), port("u", shape=())],
)
SCAN = function("scan", ["a", "z"], ["l", "b"], [node("Scan", ["z", "a"], ["l", "b"], body=STEP, num_scan_inputs=1)])
CLIP = function("clip", ["a", "low", "high"], ["b"], [node("Clip", ["a", "low", "high"], ["b"])])
BOTH = function("both", ["a"], ["b", "c"], [node("Neg", ["a"], ["b"]), node("Abs", ["a"], ["c"])])
LEAK = function(
    "leak", ["a"], ["b"], [with_reference(node("LeakyRelu", ["a"], ["b"]), "alpha", "slope")], attributes=["slope"]
)
OUTER = function("outer", ["a"], ["b"], [with_reference(call("leak", ["a"], ["b"]), "slope", "s")], attributes=["s"])


def g(a: Any) -> Any:
    return np.abs(a) - a


def h(a: Any) -> Any:
    return g(a - np.exp(a))


def j(a: Any, flag: bool) -> Any:
    return h(-a) + a if flag else g(a) + a


def scanned(a: Any) -> Any:
    state, results = np.float32(0), []
    for element in a:
        state = h(state) + element
        results.append(-state)
    return np.float32(results)


VALUES: dict[str, tuple[Sequence[Any], Sequence[Any], Mapping[str, Any], Any]] = {
    "the last node calls another": ([call("h", ["x"], ["y"])], [H, G], {}, h(X)),
    "called twice": ([call("many", ["x"], ["m"]), call("many", ["m"], ["y"])], [MANY, G], {}, None),
    "a name of the graph before": (
        [
            node("Exp", ["x"], ["y/t"]),
            call("g", ["x"], ["m"]),
            node("Add", ["m", "y/t"], ["n"]),
            call("h", ["n"], ["y"]),
        ],
        [H, G],
        {},
        h(g(X) + np.exp(X)),
    ),
    "a name of the graph behind": (
        [call("g", ["x"], ["m"]), node("Exp", ["x"], ["m/t"]), node("Add", ["m", "m/t"], ["y"])],
        [G],
        {},
        g(X) + np.exp(X),
    ),
    "a constant's name": ([call("g", ["x"], ["m"]), node("Add", ["m", "m/t"], ["y"])], [G], {"m/t": X}, g(X) + X),
    "a name of a branch": (
        [
            node(
                "If",
                ["k"],
                ["m"],
                then_branch=graph([node("Neg", ["x"], ["y/t"])], "y/t"),
                else_branch=graph([call("h", ["x"], ["y/t_1"])], "y/t_1"),
            ),
            call("h", ["m"], ["y"]),
        ],
        [H, G],
        {"k": np.array(False)},
        h(h(X)),
    ),
    "a known branch in a function": ([call("j", ["x", "k"], ["y"])], [J, H, G], {"k": np.array(True)}, j(X, True)),
    "a loop in a function": (
        [call("loop", ["x", "n"], ["m"]), call("loop", ["m", "n"], ["y"])],
        [LOOP, H, G],
        {"n": np.array(1)},
        h(h(X)),
    ),
    "a scan in a function": ([call("scan", ["x", "z"], ["l", "y"])], [SCAN, H, G], {"z": np.float32(0)}, scanned(X)),
    "absent last inputs": ([call("clip", ["x"], ["y"])], [CLIP], {}, X),
    "an absent input between": ([call("clip", ["x", "", "c"], ["y"])], [CLIP], {"c": np.float32(2)}, np.minimum(X, 2)),
    "an absent input through two calls": (
        [call("c", ["x", "", "c"], ["y"])],
        [function("c", ["a", "l", "h"], ["b"], [call("clip", ["a", "l", "h"], ["b"])]), CLIP],
        {"c": np.float32(2)},
        np.minimum(X, 2),
    ),
    "an absent output": ([call("both", ["x"], ["", "y"])], [BOTH], {}, np.abs(X)),
    "an attribute": ([call("leak", ["x"], ["y"], slope=0.5)], [LEAK], {}, np.where(X < 0, X / 2, X)),
    "an attribute through two calls": (
        [call("outer", ["x"], ["y"], s=0.5)],
        [OUTER, LEAK],
        {},
        np.where(X < 0, X / 2, X),
    ),
    "no attribute through two calls": (
        [call("outer", ["x"], ["y"])],
        [OUTER, LEAK],
        {},
        np.where(X < 0, X * np.float32(0.01), X),
    ),
    "a default behind two calls": (
        [call("outer", ["x"], ["y"])],
        [OUTER, function("leak", ["a"], ["b"], LEAK.node, defaults={"slope": 0.25})],
        {},
        np.where(X < 0, X / 4, X),
    ),
    "another opset": (
        [call("n", ["x"], ["y"])],
        [function("n", ["a"], ["b"], [node("Neg", ["a"], ["b"])], opset=13)],
        {},
        -X,
    ),
}
VALUES["called twice"] = (*VALUES["called twice"][:3], g(g(-(g(g(-X)) - X))) - (g(g(-X)) - X))


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    nodes, functions, constants, expected = VALUES[name]
    content = model(nodes, *PORTS, constants, functions=functions)
    (found,) = run(content, x=X)
    np.testing.assert_allclose(found, expected, 1e-6, 1e-6)
    if has_oracle():
        np.testing.assert_allclose(found, run_oracle(content, {"x": X})[0], 1e-6, 1e-6)


@pytest.mark.parametrize("flag", [True, False])
def test_functions_in_branches_of_functions(flag: bool) -> None:
    """Called twice; both branches have inner values of the same names, and functions in them too."""
    nodes = [call("j", ["x", "k"], ["m"]), call("j", ["m", "k"], ["y"])]
    content = model(nodes, [PORTS[0][0], port("k", "BOOL", ())], PORTS[1], functions=[J, H, G])
    given = {"x": X, "k": np.array(flag)}
    (found,) = run(content, **given)
    np.testing.assert_allclose(found, j(j(X, flag), flag), 1e-6)
    if has_oracle():
        np.testing.assert_allclose(found, run_oracle(content, given)[0], 1e-6)


def test_outputs_that_are_inputs_or_one_another() -> None:
    """ONNX Runtime refuses such functions; the checker of ONNX does not."""
    mixed = function("f", ["a", "c"], ["c", "b", "b", "a"], [node("Add", ["a", "c"], ["b"])])
    nodes = [
        call("f", ["x", "two"], ["p", "q", "r", "s"]),
        node("Mul", ["p", "q"], ["m"]),
        node("Mul", ["m", "r"], ["n"]),
        node("Mul", ["n", "s"], ["y"]),
    ]
    content = model(nodes, *PORTS, {"two": np.full(3, 2, np.float32)}, functions=[mixed])
    np.testing.assert_array_equal(run(content, x=X)[0], 2 * (X + 2) * (X + 2) * X)


def test_a_graph_that_is_an_attribute_of_a_function() -> None:
    chosen = with_reference(
        node("If", ["k"], ["b"], else_branch=graph([node("Abs", ["a"], ["u"])], "u")),
        "then_branch",
        "of",
        onnx.AttributeProto.GRAPH,
    )
    nodes = [call("f", ["x", "k"], ["y"], of=graph([call("g", ["x"], ["u"])], "u"))]
    functions = [function("f", ["a", "k"], ["b"], [chosen], attributes=["of"]), G]
    content = model(nodes, [PORTS[0][0], port("k", "BOOL", ())], PORTS[1], functions=functions)
    np.testing.assert_array_equal(run(content, x=X, k=np.array(True))[0], g(X))
    np.testing.assert_array_equal(run(content, x=X, k=np.array(False))[0], np.abs(X))


REFUSED: dict[str, tuple[Sequence[Any], Sequence[Any], str]] = {
    "one that calls itself in a branch": (
        [call("f", ["x", "k"], ["y"])],
        [
            function(
                "f",
                ["a", "k"],
                ["b"],
                [node("If", ["k"], ["b"], then_branch=graph([call("f", ["a", "k"], ["c"])], "c"))],
            )
        ],
        "functions must not call each other recursively, got the calls f -> f",
    ),
    "three that call each other": (
        [call("f", ["x"], ["y"])],
        [function(one, ["a"], ["b"], [call(other, ["a"], ["b"])]) for one, other in ("fg", "gi", "if")],
        "functions must not call each other recursively, got the calls f -> g -> i -> f",
    ),
    "a written input": (
        [call("f", ["x"], ["y"])],
        [function("f", ["a", "c"], ["b"], [node("Neg", ["a"], ["c"]), node("Abs", ["c"], ["b"])])],
        "node 0 f: a node of the function must not write its input 'c'",
    ),
    "the function has two inputs with the same name": (
        [call("f", ["x", "x"], ["y"])],
        [function("f", ["a", "a"], ["b"], [node("Neg", ["a"], ["b"])])],
        "node 0 f: the inputs of the function must have different names, but two have the same",
    ),
    "a name of the graph around": (
        [call("f", ["x"], ["y"])],
        [function("f", ["a"], ["b"], [node("Add", ["a", "x"], ["b"])])],
        "reads 'y/x', which no node computes",
    ),
    "a name that is written twice": (
        [call("f", ["x"], ["y"])],
        [function("f", ["a"], ["b"], [node("Neg", ["a"], ["b"])] * 2)],
        "node 1 Neg: it must not write 'y', which node 0 writes already",
    ),
    "an operator that another opset defines otherwise": (
        [call("f", ["x"], ["y"])],
        [function("f", ["a"], ["b"], [node("Softmax", ["a"], ["b"])], opset=11)],
        "its function imports opset 11 and the model 17, and Softmax has another meaning since opset 13",
    ),
    "an unknown opset": (
        [call("f", ["x"], ["y"])],
        [function("f", ["a"], ["b"], [node("Neg", ["a"], ["b"])], opset=99)],
        "function 'f': the opset of ai.onnx is 99, but only 7 to 28 are supported",
    ),
    "the name of an operator": (
        [node("Neg", ["x"], ["y"])],
        [function("Neg", ["a"], ["b"], [node("Abs", ["a"], ["b"])], domain="")],
        "function 'Neg': a function must not be in the domain 'ai.onnx', where runtimes have operators of their",
    ),
    "a function's attribute in the graph": (
        [with_reference(node("LeakyRelu", ["x"], ["y"]), "alpha", "slope")],
        [],
        "attribute 'alpha' refers to the attribute 'slope' of a function (ref_attr_name), but the node is not in a",
    ),
    "an attribute of another kind": (
        [call("outer", ["x"], ["y"], s="steep")],
        [OUTER, LEAK],
        "attribute 'alpha' must be a number, got 'steep'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    nodes, functions, message = REFUSED[name]

    def change(message: Any) -> None:
        del message.opset_import[:]
        message.opset_import.extend([helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])

    ports = [*PORTS[0], port("k", "BOOL", ())]
    with pytest.raises(ModelError) as caught:
        imported(model(nodes, ports, PORTS[1], functions=functions, change=change))
    assert message in str(caught.value)


def test_functions_that_double_are_bounded() -> None:
    """Each calls the next one twice: 2^30 nodes. The number of nodes is bounded, before memory is."""
    functions = [
        function(f"f{i}", ["a"], ["b"], [call(f"f{i + 1}", ["a"], ["m"]), call(f"f{i + 1}", ["m"], ["b"])])
        for i in range(30)
    ]
    content = model([call("f0", ["x"], ["y"])], *PORTS, functions=[*functions, function("f30", ["a"], ["b"], G.node)])
    with pytest.raises(ModelError, match="the model has more than 100000 nodes, the limit, after its functions"):
        read(content)


def test_graphs_that_double_are_bounded() -> None:
    """Each function hands on a graph that holds the graph it is given twice."""
    kind = onnx.AttributeProto.GRAPH
    functions = []
    for i in range(28):
        both = with_reference(
            with_reference(node("If", ["k"], ["i"]), "then_branch", "of", kind), "else_branch", "of", kind
        )
        inner = call(f"f{i + 1}", ["a", "k"], ["b"], of=graph([both], "i"))
        functions.append(function(f"f{i}", ["a", "k"], ["b"], [inner], attributes=["of"]))
    functions.append(
        function(
            "f28",
            ["a", "k"],
            ["b"],
            [with_reference(node("If", ["k"], ["b"], else_branch=graph([], "a")), "then_branch", "of", kind)],
            attributes=["of"],
        )
    )
    nodes = [call("f0", ["x", "k"], ["y"], of=graph([node("Neg", ["x"], ["u"])], "u"))]
    content = model(nodes, [PORTS[0][0], port("k", "BOOL", ())], PORTS[1], functions=functions)
    with pytest.raises(ModelError, match="makes more than 100000 nodes, the limit"):
        read(content)
