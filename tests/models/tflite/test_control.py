"""State and control: variables, CALL_ONCE, WHILE, IF and CALL, as programs that run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.runtime.interpreter import core
from tests.models.tflite.generated.control import gru
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, write
from tests.runtime.programs import assert_same


def _int(*shape: int, **others: Any) -> Tensor:
    return Tensor(shape, "int32", **others)


def _bool() -> Tensor:
    return Tensor((), "bool")


def _handle() -> Tensor:
    return Tensor((), "resource")


def _compiled(*subgraphs: Subgraph, signatures: Sequence[Signature] = ()) -> qrt.Program:
    return qrt.compile(import_model(read(write(subgraphs, signatures)), profile("litert")))


def _refused(said: str, *subgraphs: Subgraph) -> None:
    with pytest.raises(ModelError) as caught:
        import_model(read(write(subgraphs)), profile("litert"))
    assert said in str(caught.value)


def _results(program: qrt.Program, *inputs: Any, **options: Any) -> list[Any]:
    names = [port.name for port in program.inputs]
    given = {name: np.asarray(value, np.int32) for name, value in zip(names, inputs, strict=True)}
    return [np.asarray(value).tolist() for value in program.run(given, **options).values()]


# -- variables -------------------------------------------------------------------------------------------------------


def _variable(name: str) -> tuple[Tensor, Operator]:
    handle = _handle()
    return handle, Operator("VAR_HANDLE", [], [handle], {"shared_name": name})


def _initial(name: str, tensor: Tensor) -> Subgraph:
    handle, made = _variable(name)
    return Subgraph([], [], [made, Operator("ASSIGN_VARIABLE", [handle, tensor], [])], "init")


_ONCE = Operator("CALL_ONCE", [], [], {"init_subgraph_index": 1})


def _summing(*first: Operator) -> Subgraph:
    """It adds its input to a variable, and gives what the variable was."""
    x, old, new = _int(2), _int(2), _int(2)
    handle, made = _variable("total")
    steps = [
        Operator("READ_VARIABLE", [handle], [old]),
        Operator("ADD", [x, old], [new]),
        Operator("ASSIGN_VARIABLE", [handle, new], []),
    ]
    return Subgraph([x], [old], [*first, made, *steps])


def test_a_variable_outlives_a_call_and_begins_with_what_call_once_assigns() -> None:
    program = _compiled(_summing(_ONCE), _initial("total", _int(2, data=[10, 20])))
    assert [_results(program, [1, 2]) for _ in range(3)] == [[[10, 20]], [[11, 22]], [[12, 24]]]
    program.reset()
    other = program.clone()
    assert _results(program, [5, 5]) == [[10, 20]]
    assert _results(other, [1, 1]) == [[10, 20]]
    assert _results(program, [0, 0]) == [[15, 25]]


def test_an_initial_value_may_follow_from_constants() -> None:
    value, handle = _int(2), _handle()
    init = Subgraph([], [], [
        Operator("VAR_HANDLE", [], [handle], {"shared_name": "total"}),
        Operator("ADD", [_int(2, data=[1, 2]), _int(1, data=[5])], [value]),
        Operator("ASSIGN_VARIABLE", [handle, value], []),
    ])  # fmt: skip
    assert _results(_compiled(_summing(_ONCE), init), [0, 0]) == [[6, 7]]


def test_a_variable_of_quantized_values_holds_their_storage() -> None:
    """Scales are no part of a variable: what is written with one and read with another has the same bits."""
    x, y = Tensor((2,), "int8", scales=0.5), Tensor((2,), "int8", scales=0.25, zero_points=3)
    handle, made = _variable("v")
    steps = [made, Operator("READ_VARIABLE", [handle], [y]), Operator("ASSIGN_VARIABLE", [handle, x], [])]
    module = import_model(
        read(write([Subgraph([x], [y], [_ONCE, *steps]), _initial("v", Tensor((2,), "int8", data=[7, 8]))])),
        profile("litert"),
    )
    assert "ml_program.global private mutable @v(dense<[7, 8]> : tensor<2xi8>) : tensor<2xi8>" in str(module)
    program = qrt.compile(module)
    found = [np.asarray(program.run({"t0": np.int8([k, -k])})["t2"].storage) for k in (1, 2)]
    assert [each.tolist() for each in found] == [[7, 8], [1, -1]]


def test_signatures_share_variables() -> None:
    def graph(name: str) -> tuple[Subgraph, Signature]:
        x, y = _int(1), _int(1)
        handle, made = _variable("v")
        if name == "set":
            steps = [Operator("ASSIGN_VARIABLE", [handle, x], []), Operator("READ_VARIABLE", [handle], [y])]
        else:
            old = _int(1)
            steps = [Operator("READ_VARIABLE", [handle], [old]), Operator("ADD", [old, x], [y])]
        return Subgraph([x], [y], [made, *steps]), Signature({"x": x}, {"y": y}, name, ["set", "get"].index(name))

    graphs, signatures = zip(graph("set"), graph("get"), strict=True)
    module = import_model(read(write(graphs, signatures)), profile("litert"))
    assert [function.sym_name for function in module.functions] == ["set", "get"]
    assert str(module).count("ml_program.global ") == 1


def test_a_variable_that_nothing_sets() -> None:
    handle, made = _variable("v")
    graph = Subgraph([], [y := _int(1)], [made, Operator("READ_VARIABLE", [handle], [y])])
    _refused("<bytes>: subgraph 0, operator 1 READ_VARIABLE: it reads variable 'v', to which no operator", graph)


def test_a_variable_that_is_read_before_it_is_set() -> None:
    with pytest.raises(ModelError, match="loads the global @total before a value is stored in it"):
        _results(_compiled(_summing()), [1, 1])


def test_a_variable_of_two_types() -> None:
    _refused("operator 2 READ_VARIABLE: variable 'total' has the type tensor<3xi32>, but is used here as",
             _summing(_ONCE), _initial("total", _int(3, data=[1, 2, 3])))  # fmt: skip


def test_a_resource_that_is_no_handle() -> None:
    given = _handle()
    _refused(
        "<bytes>: subgraph 0: tensor 't0' is of resource, which is not supported",
        Subgraph([given], [y := _int(1)], [Operator("READ_VARIABLE", [given], [y])]),
    )
    copied = _handle()
    handle, made = _variable("v")
    steps = [made, Operator("RELU", [handle], [copied]), Operator("READ_VARIABLE", [copied], [y])]
    _refused("operator 2 READ_VARIABLE: tensor 't1' must be the handle of a variable (a", Subgraph([], [y], steps))


def test_an_initial_value_that_is_computed() -> None:
    handle, made = _variable("total")
    init = Subgraph([x := _int(2)], [], [made, Operator("ASSIGN_VARIABLE", [handle, x], [])])
    _refused("ASSIGN_VARIABLE (an initial value that is not constant)", _summing(_ONCE), init)


# -- control ---------------------------------------------------------------------------------------------------------


def _less_than(limit: int, *others: Tensor) -> Subgraph:
    x, said = _int(), _bool()
    return Subgraph([x, *others], [said], [Operator("LESS", [x, _int(data=limit)], [said])])


def _stepping() -> Subgraph:
    """The counter goes up by one, the sum by the counter."""
    x, total, next_x, next_total = _int(), _int(2), _int(), _int(2)
    steps = [Operator("ADD", [x, _int(data=1)], [next_x]), Operator("ADD", [total, next_x], [next_total])]
    return Subgraph([x, total], [next_x, next_total], steps)


def _loop(condition: Subgraph, body: Subgraph) -> list[Subgraph]:
    inputs, outputs = [_int(), _int(2)], [_int(), _int(2)]
    options = {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    return [Subgraph(inputs, outputs, [Operator("WHILE", inputs, outputs, options)]), condition, body]


def test_while_goes_on_until_its_condition_is_false() -> None:
    program = _compiled(*_loop(_less_than(5, _int(2)), _stepping()))
    assert _results(program, 0, [0, 100]) == [5, [15, 115]]
    assert _results(program, 5, [1, 2]) == [5, [1, 2]]


def test_while_that_never_ends_is_stopped_by_the_limit_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    x, total = _int(), _int(2)
    same = Subgraph([x, total], [x, total], [])
    monkeypatch.setattr(core, "MOST_ROUNDS", 1000)
    program = _compiled(*_loop(_less_than(5, _int(2)), same))
    said = r"subgraph 0, operator 0 WHILE.*'scf\.while' op does not end within 1,000 rounds"
    with pytest.raises(ModelError, match=said):
        _results(program, 0, [0, 0])
    with pytest.raises(ModelError, match=said):
        program(np.int32(0), np.int32([0, 0]))
    with pytest.raises(ModelError, match=r"'scf\.while' op does not end within max_steps, the limit of steps"):
        _results(_compiled(*_loop(_less_than(5, _int(2)), same)), 0, [0, 0], max_steps=1000)


@pytest.mark.parametrize(
    ("condition", "body", "said"),
    [
        (
            Subgraph([_int(), _int(2)], [y := _int()], [Operator("RANK", [_int(data=1)], [y])]),
            _stepping(),
            "its condition must be one bool, got tensor<i32>",
        ),
        (_less_than(5), _stepping(), "subgraph 1 has 1 input, but is called with 2"),
        (_less_than(5, _int(3)), _stepping(), "tensors whose type changes between iterations"),
    ],
)
def test_loops_that_do_not_fit(condition: Subgraph, body: Subgraph, said: str) -> None:
    _refused(said, *_loop(condition, body))


def test_a_loop_whose_body_gives_other_tensors() -> None:
    x, total, y = _int(), _int(2), _int(2)
    body = Subgraph([x, total], [y, total], [Operator("ADD", [x, total], [y])])
    _refused("tensors whose type changes between iterations", *_loop(_less_than(5, _int(2)), body))


def _branch(name: str) -> Subgraph:
    a, b, y = _int(2), _int(2), _int(2)
    return Subgraph([a, b], [y], [Operator(name, [a, b], [y])])


def _choice(*branches: Subgraph, condition: Tensor | None = None) -> list[Subgraph]:
    a, b, y, limit = _int(2), _int(2), _int(2), _int()
    said = condition or _bool()
    steps = [] if condition else [Operator("LESS", [limit, _int(data=3)], [said])]
    options = {"then_subgraph_index": 1, "else_subgraph_index": 2}
    graph = Subgraph([limit, a, b], [y], [*steps, Operator("IF", [said, a, b], [y], options)])
    return [graph, *branches]


def test_if_calls_one_of_two_functions() -> None:
    program = _compiled(*_choice(_branch("ADD"), _branch("SUB")))
    assert _results(program, 2, [10, 20], [1, 2]) == [[11, 22]]
    assert _results(program, 3, [10, 20], [1, 2]) == [[9, 18]]


def test_branches_that_do_not_fit() -> None:
    a, y = _int(2), _int(2)
    _refused(
        "subgraph 2 has 1 input, but is", *_choice(_branch("ADD"), Subgraph([a], [y], [Operator("NEG", [a], [y])]))
    )
    _refused(
        "its condition must be one bool",
        *_choice(_branch("ADD"), _branch("SUB"), condition=Tensor((2,), "bool", data=[1, 1])),
    )


def test_call_gives_the_results_of_a_subgraph() -> None:
    a, b, y = _int(2), _int(2), _int(2)
    program = _compiled(Subgraph([a, b], [y], [Operator("CALL", [a, b], [y], {"subgraph": 1})]), _branch("MUL"))
    assert _results(program, [2, 3], [5, 7]) == [[10, 21]]


def test_a_loop_may_be_given_a_variable() -> None:
    """A handle is no value: the function of the body knows which variable it is."""
    handle, made = _variable("total")
    x, y, end = _int(), _int(), _handle()

    def carried() -> tuple[Tensor, Tensor]:
        return _int(), _handle()

    a, b = carried(), carried()
    said, new, old, total = _bool(), _int(), _int(2), _int(2)
    condition = Subgraph([*a], [said], [Operator("LESS", [a[0], _int(data=3)], [said])])
    body = Subgraph([*b], [new, b[1]], [
        Operator("ADD", [b[0], _int(data=1)], [new]),
        Operator("READ_VARIABLE", [b[1]], [old]),
        Operator("ADD", [old, new], [total]),
        Operator("ASSIGN_VARIABLE", [b[1], total], []),
    ])  # fmt: skip
    options = {"cond_subgraph_index": 2, "body_subgraph_index": 3}
    result = _int(2)
    main = Subgraph([x], [y, result], [
        _ONCE, made, Operator("WHILE", [x, handle], [y, end], options), Operator("READ_VARIABLE", [end], [result]),
    ])  # fmt: skip
    program = _compiled(main, _initial("total", _int(2, data=[0, 100])), condition, body)
    assert _results(program, 0) == [3, [6, 106]]
    assert _results(program, 2) == [3, [9, 109]]


def test_what_is_missing_is_said_in_one_error() -> None:
    """Each operator and form once, with the operators that have it."""
    x = Tensor((1, 2), "float32")
    made = [Tensor((1, 2), "float32") for _ in range(6)]
    names = ["HASHTABLE_LOOKUP", "HASHTABLE_FIND", "Mine", "STABLEHLO_RNG_BIT_GENERATOR", "MULTINOMIAL", "Mine"]
    steps = [Operator(name, [x], [y], table=None) for name, y in zip(names, made, strict=True)]
    with pytest.raises(ModelError) as caught:
        import_model(read(write([Subgraph([x], made, steps)])), profile("litert"))
    said = str(caught.value)
    assert "qrt does not support 5 of its operators" in said
    for name in {*names}:
        assert f"{name} ({'a custom operator' if name == 'Mine' else 'float32'})" in said
    assert "Mine (a custom operator): subgraph 0, operator 2 Mine, subgraph 0, operator 5 Mine" in said
    assert len(said.splitlines()) == 6


def test_a_file_is_imported_alike_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "loop.tflite"
    path.write_bytes(write(_loop(_less_than(5, _int(2)), _stepping())))
    assert str(qrt.load(path)) == str(import_model(read(path), profile("litert")))


def test_a_gru_as_a_while_is_one_call_of_c() -> None:
    case = gru(np.random.default_rng(3))
    program = qrt.compile(import_model(read(case.content), profile("litert")))
    for inputs in case.inputs or ():
        named = {port.name: value for port, value in zip(program.inputs, inputs, strict=True)}
        assert_same(program.run(named), program.run(named, interpret=True))
    (plan,) = program._plans.values()
    assert plan.executable is not None
    assert len(plan.details.segments) == 1
    assert {step.engine for step in plan.coverage} == {"kernel", "control"}
