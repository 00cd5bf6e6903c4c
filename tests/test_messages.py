"""No message is longer than 2,048 characters, whatever it is about. Hazard: a type of half a million scales, a list of
them, a line or a name without end that an error quotes."""

import inspect
import itertools
import operator
import warnings

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.cli import main
from qrt.errors import Diagnostic, ParseError, QuantError, QuantTypeError, diagnostics
from qrt.types.scanner import Location, Source

MOST = 2048
SCALES = np.random.default_rng(3).uniform(0.1, 1, (32, 64))
BLOCKS = qrt.UniformType("i8", "f32", SCALES, block_sizes={0: 2, 1: 1})
CHANNELS = qrt.UniformType("i8", "f64", SCALES.ravel(), np.arange(2048) % 7, axis=1)
LAYER = qrt.UniformType("i8", "f64", 1 / 3)
VALUES = {
    "blocks": qrt.QuantTensor(np.ones((64, 64), np.int8), BLOCKS),
    "channels": qrt.QuantTensor(np.ones((2, 2048), np.int8), CHANNELS),
    "layer": qrt.QuantTensor(np.arange(-50, 50, dtype=np.int8).reshape(10, 10), LAYER),
    "type": BLOCKS,
    "channel type": CHANNELS,
    "text": str(BLOCKS),
    "list": SCALES.tolist(),
    "array": SCALES,
    "integer": 3,
}
SETTINGS = "set_"  # what other tests run with
FUNCTIONS = {
    name: value
    for name in qrt.__all__
    if inspect.isfunction(value := getattr(qrt, name)) and not name.startswith(SETTINGS)
}
METHODS = [name for name in dir(qrt.QuantTensor) if not name.startswith("_")]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.matmul, operator.getitem]


def refused(work, *arguments, **options):
    """The length of what is said, where the arguments are refused."""
    said = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            work(*arguments, **options)
        except Exception as error:
            said = str(error)
    assert len(said) <= MOST, said[:300]
    return len(said)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    found = [refused(FUNCTIONS[name], *some) for n in (1, 2) for some in itertools.product(VALUES.values(), repeat=n)]
    found += [refused(FUNCTIONS[name], q, q, out_type=t) for q in VALUES.values() for t in (CHANNELS, str(BLOCKS))]
    assert any(found)


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    for q in ("blocks", "channels", "layer"):
        method = getattr(VALUES[q], name)
        if callable(method):
            for value in VALUES.values():
                refused(method, value)


@pytest.mark.parametrize("work", OPERATORS)
def test_operators(work):
    tensors = ("blocks", "channels", "layer")
    assert any(
        refused(work, VALUES[a], VALUES[b]) for a, b in itertools.product(tensors, [*tensors, "text", "integer"])
    )


def test_types():
    said = [
        refused(BLOCKS.with_, **{name: value}) for value in VALUES.values() for name in ("scales", "storage", "axis")
    ]
    said += [refused(BLOCKS.with_, **{str(BLOCKS): 1}), refused(getattr, BLOCKS, "scale")]
    said += [refused(qrt.UniformType, *some) for some in itertools.permutations(VALUES.values(), 2)]
    said += [refused(qrt.UniformType, "i8", "f32", *some) for some in itertools.permutations(VALUES.values(), 2)]
    said += [refused(qrt.parse_type, str(BLOCKS), kind=kind) for kind in (qrt.QuantTensor, str(BLOCKS))]
    assert min(said[-3:]) > 0


def test_reprs():
    for value in ("blocks", "channels", "layer", "type", "channel type"):
        assert len(repr(VALUES[value])) <= MOST
    module = ir.parse(
        f"func.func @f(%x: tensor<64x64x{BLOCKS}>) -> tensor<64x64x{BLOCKS}> {{ return %x : tensor<64x64x{BLOCKS}> }}"
    )
    block = module.function("f").regions[0].blocks[0]
    for value in (qrt.compile(module), block.arguments[0], block.operations[0], module, module.function("f")):
        assert len(repr(value)) <= MOST
        assert "32x64 scales" in repr(value) or str(SCALES[0, 0])[:5] not in repr(value)


B, C = f"tensor<64x64x{BLOCKS}>", f"tensor<2x2048x{CHANNELS}>"
PROGRAMS = {
    "a return of another type": f"func.func @f(%x: {B}) -> {C} {{ return %x : {B} }}",
    "a use of another type": f"func.func @f(%x: {B}) {{ %0 = quant.dcast %x : {C} to tensor<2x2048xf64> return }}",
    "a cast of another shape": f"func.func @f(%x: {B}) {{ %0 = quant.dcast %x : {B} to tensor<1x64xf32> return }}",
    "an op that refuses": f"func.func @f(%x: {B}) {{ %0 = qrt.matmul %x, %x : ({B}, {B}) -> {C} return }}",
    "an unknown op": f'func.func @f(%x: {B}) {{ "quant.what"(%x) : ({B}) -> () return }}',
    "a call of another type": f"func.func @f(%x: {B}) {{ call @g(%x) : ({B}) -> () return }} func.func private @g({C})",
    "a branch of another type": f"func.func @f(%x: {B}) {{ cf.br ^a(%x : {B}) ^a(%y: {C}): return }}",
    "integers of arith": f"func.func @f(%x: {B}) {{ %0 = arith.addi %x, %x : {B} return }}",
    "a cast of tensors": f"func.func @f(%x: {B}) {{ %0 = tensor.cast %x : {B} to {C} return }}",
    "a value twice": f"func.func @f(%x: {B}, %x: {C}) {{ return }}",
    "a tensor of another shape": f"func.func @f(%x: {B.replace('64x64', '3x64')}) {{ %0 = quant.dcast %x : {B} }}",
    "a type without end": f"func.func @f(%x: {B[:-9]}",
    "a scale that is none": f"func.func @f(%x: {B.replace(', 0.', ', -0.', 99)}) {{ return }}",
    "an operation of a long name": f"func.func @f() {{ {'a' * 9999}.b return }}",
    "a value of a long name": f"func.func @f() {{ return %{'a' * 9999} : i32 }}",
    "a symbol of a long name": f"func.func @f() {{ call @{'a' * 9999}() : () -> () return }}",
    "a string of a long attribute": f'func.func @f() attributes {{a = "{"x" * 9999} {{ return }}',
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path, capsys):
    def verified():
        ir.parse(PROGRAMS[name]).verify()

    with pytest.raises(QuantError) as caught:
        verified()
    assert len(str(caught.value)) <= MOST
    assert all(len(str(found)) <= MOST for found in diagnostics(caught.value))
    (tmp_path / "f.mlir").write_text(PROGRAMS[name])
    assert main(["opt", "f.mlir"]) == 1
    assert 0 < len(capsys.readouterr().err) <= MOST + 200


def test_a_diagnostic_of_long_parts():
    source = Source("x" * 99_999, "folder/" * 999)
    note = Diagnostic("note", "n" * 9999, Location(source, 50_000, 60_000))
    error = ParseError("e" * 9999, Location(source, 50_000, 60_000), (note,) * 9)
    assert len(str(error)) <= MOST
    assert str(error).endswith("more notes)")
    few = (Diagnostic("note", "see here", Location(Source("x", "f.mlir"), 0)),) * 2
    assert str(ParseError("e" * 999, Location(source, 50_000), few)).count("see here") == 2
    for error in (QuantTypeError("e" * 9999), ParseError("e" * 9999, Location(source, 9))):
        assert str(error).count("[...]") == 1
