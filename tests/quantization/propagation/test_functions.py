"""Hazards: two calls of a function that share types which only one of them can have; a recursion that never ends; a
program that doubles with every function.
"""

import pytest

from qrt.errors import VerifyError
from qrt.quantization.propagation.propagate_quant import Settings
from tests.quantization.propagation.programs import A, B, T, function, region, run

INLINE, DUPLICATE = Settings(functions="inline"), Settings(functions="duplicate")
POOL = function("%v", region("%p", "pool", "%v"), name="private @pool", returned="%p")


def called(*types: str, callee: str = "@pool") -> str:
    """A program that calls once with an operand of each type."""
    lines = [region(f"%{n}", "op", "%x", A, each) for n, each in enumerate(types)]
    lines += [f"%c{n} = func.call {callee}(%{n}) : ({T}) -> {T}" for n in range(len(types))]
    return function("%x", *lines)


def test_calls_are_inlined() -> None:
    result = run(called(A, B, A) + POOL, INLINE)
    assert result.of("pool") == [[A, A], [B, B], [A, A]]
    assert [each.sym_name for each in result.module.functions] == ["main"]
    assert result.causes == []


def test_clones_that_are_equal_become_one() -> None:
    result = run(called(A, B, A) + POOL, DUPLICATE)
    assert result.of("pool") == [[A, A], [B, B]]
    calls = [each.attributes["callee"] for each in result.module.operation.walk() if each.name == "func.call"]
    assert [str(each) for each in calls] == ["@pool", "@pool_1", "@pool"]
    assert result.causes == []
    again = run(str(result.module), DUPLICATE)
    assert len(again.module.functions) == 3


def test_callers_of_equal_clones_become_equal() -> None:
    outer = function("%v", f"%p = func.call @pool(%v) : ({T}) -> {T}", name="private @outer", returned="%p")
    result = run(called(A, B, B, callee="@outer") + outer + POOL, DUPLICATE)
    assert sorted(each.sym_name for each in result.module.functions) == ["main", "outer", "outer_1", "pool", "pool_1"]
    assert result.of("pool") == [[A, A], [B, B]]
    inlined = run(called(A, B, B, callee="@outer") + outer + POOL, INLINE)
    assert inlined.of("pool") == [[A, A], [B, B], [B, B]]


def test_a_public_function_stays_and_has_types_of_its_own() -> None:
    pool = POOL.replace("private ", "").replace("input_specs = [f32]", f"input_specs = [{A}]")
    result = run(called(A) + pool, DUPLICATE)
    assert sorted(each.sym_name for each in result.module.functions) == ["main", "pool", "pool_0"]


def test_a_cause_names_no_annotation_of_a_body_that_stands_there_twice() -> None:
    op = function("%v", region("%p", "op", "%v", A, B), name="private @op", returned="%p")
    calls = [f"%0 = func.call @op(%x) : ({T}) -> {T}", f"%1 = func.call @op(%0) : ({T}) -> {T}"]
    (cause,) = run(function("%x", *calls) + op, INLINE).causes
    assert cause == f"f.mlir:7 op output 0 is {B}, but f.mlir:7 op input 0 needs {A}"


def test_a_marked_call_shares_the_body() -> None:
    marked = POOL.replace(f"-> {T} {{", f"-> {T} attributes {{no_inline}} {{", 1)
    result = run(called(A, B) + marked, INLINE)
    ((first, second),) = result.of("pool")
    assert first == second
    assert len(result.of("rescale")) == 1


@pytest.mark.parametrize("settings", [INLINE, DUPLICATE])
def test_recursion_is_an_error_at_the_call(settings: Settings) -> None:
    one = function(
        "%v", region("%p", "pool", "%v"), f"%q = func.call @two(%p) : ({T}) -> {T}", name="private @one", returned="%q"
    )
    two = function("%v", f"%q = func.call @one(%v) : ({T}) -> {T}", name="private @two", returned="%q")
    with pytest.raises(VerifyError, match=r"^f\.mlir:11:\d+: error: 'one' calls itself and contains regions"):
        run(function("%x", f"%0 = func.call @one(%x) : ({T}) -> {T}") + one + two, settings)


def test_a_recursion_without_regions_stays() -> None:
    loop = function("%v", f"%q = func.call @loop(%v) : ({T}) -> {T}", name="private @loop", returned="%q")
    result = run(called(A, callee="@loop") + loop, INLINE)
    assert "call @loop" in str(result.module)


@pytest.mark.parametrize("settings", [INLINE, DUPLICATE])
def test_a_program_does_not_grow_without_end(settings: Settings) -> None:
    functions = [POOL.replace("@pool", "@f0")]
    for n in range(1, 20):
        calls = [f"%{k} = func.call @f{n - 1}(%v) : ({T}) -> {T}" for k in range(2)]
        functions.append(function("%v", *calls, name=f"private @f{n}", returned="%1"))
    with pytest.raises(VerifyError, match="the program would be too large"):
        run(called(A, callee="@f19") + "".join(functions), settings)


def test_several_blocks_are_cloned_but_not_inlined() -> None:
    blocks = function("%v", f"cf.br ^bb1(%v : {T})", f"^bb1(%w: {T}):", region("%p", "pool", "%w"), returned="%p")
    callee = blocks.replace("@main", "private @pool")
    assert run(called(A, B) + callee, DUPLICATE).of("pool") == [[A, A], [B, B]]
    with pytest.raises(VerifyError, match="run propagate-quant with functions=duplicate"):
        run(called(A, B) + callee, INLINE)
