"""Each op of ``arith`` and ``math`` that has machine code, on values at the ends of its types, and where it is
undefined. Hazards: odd widths, whose registers are narrower than memory; i1, whose true is -1; NaNs; fused rounding."""

from itertools import product

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.numerics.comparisons import FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.ops.core import element_dtype
from qrt.runtime.codegen import floats, integers
from qrt.runtime.compilation import compile
from qrt.types import IntegerType
from tests.runtime.codegen.harness import check

WIDTHS = (1, 2, 5, 8, 13, 24, 32, 33, 64)
UNDEFINED = ("div", "rem", "sh")
"""Parts of the names of ops that are undefined for some operands."""
PLAIN = [
    name
    for name in integers.OPS
    if name.partition(".")[2].startswith(("add", "sub", "mul", "and", "or", "xor", "max", "min"))
]
PARTIAL = [name for name in integers.OPS if any(part in name for part in UNDEFINED)]


def ends(width: int) -> np.ndarray:
    """The values at the ends of a type, and around zero."""
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    values = {low, low + 1, -7, -2, -1, 0, 1, 2, 3, 6, high - 1, high}
    stored = np.array(sorted(v for v in values if low <= v <= high), element_dtype(IntegerType(64)))
    dtype = element_dtype(IntegerType(width))
    return stored != 0 if width == 1 else stored.astype(dtype)


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(values, values)
    return a.ravel().copy(), b.ravel().copy()


def function(lines: list[str], results: list[str], *arguments: str) -> str:
    given = ", ".join(f"%{name}: {t}" for name, t in zip("abc", arguments, strict=False))
    returned = f"return {', '.join(f'%r{i}' for i in range(len(results)))} : {', '.join(results)}"
    return f"func.func @main({given}) -> ({', '.join(results)}) {{ {' '.join([*lines, returned])} }}"


@pytest.mark.parametrize("width", WIDTHS)
def test_total_integer_ops(width: int) -> None:
    a, b = pairs(ends(width))
    t, flags = f"tensor<{len(a)}xi{width}>", f"tensor<{len(a)}xi1>"
    lines, results = [], []
    for name in PLAIN:
        number = len(results)
        if "extended" not in name:
            lines.append(f"%r{number} = {name} %a, %b : {t}")
            results.append(t)
            continue
        more = f", {flags}" if name == "arith.addui_extended" else ""
        lines.append(f"%r{number}, %r{number + 1} = {name} %a, %b : {t}{more}")
        results += [t, flags if more else t]
    for predicate in INTEGER_PREDICATES:
        lines.append(f"%r{len(results)} = arith.cmpi {predicate}, %a, %b : {t}")
        results.append(flags)
    for name in ("math.absi", "math.ctlz", "math.cttz", "math.ctpop"):
        lines.append(f"%r{len(results)} = {name} %a : {t}")
        results.append(t)
    for name in ("arith.sitofp", "arith.uitofp"):
        for form in ("f32", "f64"):
            floats_type = t.replace(f"i{width}", form)
            lines.append(f"%r{len(results)} = {name} %a : {t} to {floats_type}")
            results.append(floats_type)
    for other in WIDTHS:
        converted = t.replace(f"i{width}>", f"i{other}>")
        for name in ("arith.extsi", "arith.extui") if other > width else ("arith.trunci",) if other < width else ():
            lines.append(f"%r{len(results)} = {name} %a : {t} to {converted}")
            results.append(converted)
    check(function(lines, results, t, t), a, b)


@pytest.mark.parametrize("width", [1, 5, 8, 24, 64])
def test_partial_integer_ops(width: int) -> None:
    """On operands for which the ops are defined, all at once; on each of the others, with the interpreter's message."""
    scalar, values = f"i{width}", ends(width)
    for name in PARTIAL:
        text = function([f"%r0 = {name} %a, %b : {scalar}"], [scalar], scalar, scalar)
        code, plain = compile(text, codegen=True), compile(text)
        for a, b in product(values, values):
            inputs = {"arg0": np.asarray(a), "arg1": np.asarray(b)}
            expected = attempt(plain, inputs, interpret=True)
            assert attempt(code, inputs) == expected, (name, a, b)


def attempt(program, inputs, **options):
    try:
        return program.run(inputs, **options)["result0"].tolist()
    except ModelError as error:
        return str(error), type(error.__cause__)


@pytest.mark.parametrize(
    ("op", "flags"),
    [*product(("addi", "subi", "muli", "shli"), ("nsw", "nuw")), ("shli", "nsw, nuw")],
)
def test_overflow_flags(op: str, flags: str) -> None:
    """Hazard: with a flag, LLVM's result of an overflow is poison. Each pair alone, as one failure hides others."""
    for width in (5, 8, 64):
        scalar = f"i{width}"
        text = function([f"%r0 = arith.{op} %a, %b overflow<{flags}> : {scalar}"], [scalar], scalar, scalar)
        code, plain = compile(text, codegen=True), compile(text)
        for a, b in product(ends(width), ends(width)):
            inputs = {"arg0": np.asarray(a), "arg1": np.asarray(b)}
            assert attempt(code, inputs) == attempt(plain, inputs, interpret=True), (a, b)


@pytest.mark.parametrize("op", ["divsi", "divui", "shrsi", "shrui"])
def test_exact(op: str) -> None:
    text = function([f"%r0 = arith.{op} %a, %b exact : i8"], ["i8"], "i8", "i8")
    code, plain = compile(text, codegen=True), compile(text)
    for a, b in product(ends(8), ends(8)):
        inputs = {"arg0": np.asarray(a), "arg1": np.asarray(b)}
        assert attempt(code, inputs) == attempt(plain, inputs, interpret=True), (a, b)


@pytest.mark.parametrize("flag", ["nsw", "nuw"])
def test_truncation_flags(flag: str) -> None:
    text = function([f"%r0 = arith.trunci %a overflow<{flag}> : i13 to i5"], ["i5"], "i13")
    code, plain = compile(text, codegen=True), compile(text)
    for a in np.int16([-4096, -17, -16, -1, 0, 15, 16, 31, 32, 4095]):
        inputs = {"arg0": np.asarray(a)}
        assert attempt(code, inputs) == attempt(plain, inputs, interpret=True), a


# -- floats ------------------------------------------------------------------------------------------------------------

FORMS = {"f32": (np.float32, np.uint32, 23), "f64": (np.float64, np.uint64, 52)}
UNARY = ["arith.negf", *(f"math.{name}" for name in ("absf", "ceil", "floor", "round", "roundeven", "rsqrt", "sqrt"))]
UNARY += ["math.trunc"]
BINARY = ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maximumf", "arith.minimumf"]
BINARY += ["arith.maxnumf", "arith.minnumf", "math.copysign"]
CLASSES = ["math.isfinite", "math.isinf", "math.isnan", "math.isnormal"]


def float_ends(form: str) -> np.ndarray:
    dtype, bits, digits = FORMS[form]
    info = np.finfo(dtype)
    plain = [0.0, 0.5, 1.0, 1.5, 2.5, 0.1, 3e9, 1e10, float(info.max), float(info.tiny), float(info.tiny) / 4, np.inf]
    plain += [float(np.nextafter(dtype(0.5), dtype(0))), 2.0**digits + 1, 2.0 ** (digits - 1) + 0.5]
    values = np.array([*plain, *(-x for x in plain)], dtype)
    quiet = bits(1) << bits(digits - 1)
    one = np.array(np.inf, dtype).view(bits)
    nans = np.array([one | quiet, one | quiet | bits(5), np.array(-np.inf, dtype).view(bits) | quiet | bits(9)], bits)
    return np.concatenate([values, nans.view(dtype)])


@pytest.mark.parametrize("form", FORMS)
def test_floats(form: str) -> None:
    """Hazards: NaN payloads and signs, the sign of zero, subnormals, ties, and contraction of a product and a sum."""
    a, b = pairs(float_ends(form))
    c = np.roll(a, 7)
    t, flags = f"tensor<{len(a)}x{form}>", f"tensor<{len(a)}xi1>"
    lines, results = ["%p = arith.mulf %a, %b : " + t], []
    for name in UNARY:
        lines.append(f"%r{len(results)} = {name} %a : {t}")
        results.append(t)
    for name in BINARY:
        lines.append(f"%r{len(results)} = {name} %a, %b : {t}")
        results.append(t)
    lines.append(f"%r{len(results)} = arith.addf %p, %c : {t}")
    results.append(t)
    for name in CLASSES:
        lines.append(f"%r{len(results)} = {name} %a : {t}")
        results.append(flags)
    for predicate in FLOAT_PREDICATES:
        lines.append(f"%r{len(results)} = arith.cmpf {predicate}, %a, %b : {t}")
        results.append(flags)
    bits = f"tensor<{len(a)}xi{32 if form == 'f32' else 64}>"
    lines.append(f"%r{len(results)} = arith.bitcast %a : {t} to {bits}")
    results.append(bits)
    check(function(lines, results, t, t, t), a, b, c)


@pytest.mark.parametrize("form", FORMS)
def test_fused_product_and_sum(form: str) -> None:
    values = float_ends(form)
    a, b = pairs(values[~np.isnan(values)])
    t = f"tensor<{len(a)}x{form}>"
    check(function([f"%r0 = math.fma %a, %b, %c : {t}"], [t], t, t, t), a, b, np.roll(a, 5))


@pytest.mark.parametrize("bound", ["0.0", "-0.0", "1.5", "0x7FC00000"])
def test_extrema_with_a_constant(bound: str) -> None:
    """Hazard: a constant bound takes a shorter form, which is wrong for zeros and NaNs."""
    x = float_ends("f32")
    t = f"tensor<{len(x)}xf32>"
    lines = [f"%k = arith.constant dense<{bound}> : {t}"]
    names = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
    for number, (name, order) in enumerate(product(names, ("%a, %k", "%k, %a"))):
        lines.append(f"%r{number} = {name} {order} : {t}")
    check(function(lines, [t] * 8, t), x)


def test_conversions_between_floats() -> None:
    for source, target, name in (("f32", "f64", "extf"), ("f64", "f32", "truncf")):
        x = float_ends(source)
        given, result = f"tensor<{len(x)}x{source}>", f"tensor<{len(x)}x{target}>"
        check(function([f"%r0 = arith.{name} %a : {given} to {result}"], [result], given), x)


@pytest.mark.parametrize(
    ("name", "width"), [("fptosi", 8), ("fptosi", 5), ("fptosi", 64), ("fptoui", 8), ("fptoui", 64)]
)
@pytest.mark.parametrize("form", FORMS)
def test_floats_to_integers(form: str, name: str, width: int) -> None:
    scalar = f"i{width}"
    text = function([f"%r0 = arith.{name} %a : {form} to {scalar}"], [scalar], form)
    dtype = FORMS[form][0]
    around = [s * x for s in (1, -1) for x in (2.0 ** (width - 1), 2.0**width, 2.0 ** (width - 1) - 0.5, 0.9, 1.0)]
    for saturating in (False, True):
        code, plain = (compile(text, saturating=saturating, codegen=codegen) for codegen in (True, False))
        for x in np.array([*around, *float_ends(form)], dtype):
            inputs = {"arg0": np.asarray(x)}
            assert attempt(code, inputs) == attempt(plain, inputs, interpret=True), x


def test_every_op_with_machine_code_is_tested() -> None:
    tested = {*PLAIN, *PARTIAL, *UNARY, *BINARY, *CLASSES}
    others = (
        "arith.cmpi arith.select arith.extsi arith.extui arith.trunci arith.index_cast arith.index_castui math.absi "
    )
    others += "math.ctlz math.cttz math.ctpop arith.cmpf arith.extf arith.truncf arith.sitofp arith.uitofp "
    others += "arith.fptosi arith.fptoui arith.bitcast math.clampf math.fma"
    assert tested | set(others.split()) == {*integers.OPS, *floats.OPS}


def test_choices_and_index_casts() -> None:
    t = "tensor<12xi5>"
    lines = [
        f"%k = arith.cmpi slt, %a, %b : {t}",
        f"%r0 = arith.select %k, %a, %b : tensor<12xi1>, {t}",
        f"%i = arith.index_cast %a : {t} to tensor<12xindex>",
        "%r1 = arith.index_cast %i : tensor<12xindex> to tensor<12xi3>",
        f"%j = arith.index_castui %a : {t} to tensor<12xindex>",
        "%r2 = arith.index_castui %j : tensor<12xindex> to tensor<12xi64>",
    ]
    rng = np.random.default_rng(3)
    a, b = rng.integers(-16, 16, (2, 12)).astype(np.int8)
    check(function(lines, [t, "tensor<12xi3>", "tensor<12xi64>"], t, t), a, b)


def test_clamp() -> None:
    x = float_ends("f32")
    t = f"tensor<{len(x)}xf32>"
    check(function([f"%r0 = math.clampf %a to [%b, %c] : {t}"], [t], t, t, t), x, np.roll(x, 3), np.roll(x, 11))
