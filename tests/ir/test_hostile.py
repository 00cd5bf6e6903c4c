"""Broken and hostile text: always a diagnostic with a position, never a Python error, a hang or unbounded memory."""

import random
import re
import tracemalloc

import pytest

import qrt
from qrt import ir
from qrt.cli import main
from qrt.errors import ModelError, ParseError, QuantError, VerifyError
from qrt.ir import run_passes
from qrt.ir.pipeline import PASSES
from tests.ir.programs import CAST, PROGRAMS, UNREGISTERED

GENERIC = '"a.b"() {a = %s} : () -> ()'
HUGE = 9223372036854775807


def refused(text, **options):
    """The diagnostic of a text that is not a program."""
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(text, "f.mlir", **options).verify()
    location = caught.value.location
    assert location.filename == "f.mlir"
    assert 1 <= location.line <= text.count("\n") + 1
    assert location.column >= 1
    lines = str(caught.value).split("\n")
    message = caught.value.message
    shown = message if len(message) < 2000 else f"{message[:1000]} [...] {message[-1000:]}"
    assert lines[0] == f"f.mlir:{location.line}:{location.column}: error: {shown}"
    assert all(len(line) <= 160 for line in lines[1:])
    assert lines[-1].strip().startswith("^")
    return caught.value


def checked(text, **options):
    """Accepted or refused, nothing else."""
    try:
        ir.parse(text, **options).verify()
    except (ParseError, VerifyError) as error:
        str(error)


@pytest.mark.parametrize("name", ["cast", "kernels", "constants", "calls", "cast attributes"])
def test_a_function_cut_anywhere_inside_its_body_is_a_diagnostic(name):
    text = PROGRAMS[name].partition("{-#")[0].rstrip()
    for cut in range(text.index("{", text.index("func.func @f")) + 1, len(text)):
        refused(text[:cut])


@pytest.mark.parametrize("name", [*PROGRAMS, *UNREGISTERED])
def test_a_text_cut_or_damaged_anywhere_is_no_python_error(name):
    text = (PROGRAMS | UNREGISTERED)[name]
    draw = random.Random(name)
    for cut in range(len(text)):
        checked(text[:cut], allow_unregistered=True)
        if cut % 3 == 0:
            junk = draw.choice(
                ["\0", "{", "}", "<", ">", '"', "%", "#", "!", "@", "9" * 40, "-", "é", "\x7f", "loc(", "//"]
            )
            checked(text[:cut] + junk + text[cut:], allow_unregistered=True)
            checked(text[:cut] + text[cut + draw.randint(1, 9) :], allow_unregistered=True)


@pytest.mark.parametrize(
    "text",
    [
        '"a.b"() ({' * 10_000,
        "module {" * 10_000 + "}" * 10_000,
        '"a.b"() {a = ' + "[" * 10_000 + "]" * 10_000 + "} : () -> ()",
        '"a.b"() {a = ' + "{a = " * 10_000 + "} : () -> ()",
        '"a.b"() {a = dense<' + "[" * 10_000 + "1" + "]" * 10_000 + "> : tensor<1xi8>} : () -> ()",
        '"a.b"() {a = ' + "tensor<" * 10_000 + "} : () -> ()",
        '"a.b"() {a = ' + "(" * 10_000 + "} : () -> ()",
        '"a.b"() : () -> () loc(' + "callsite(" * 10_000,
        '"a.b"() {a = #a<' + "<" * 10_000 + "} : () -> ()",
        "".join(f"!a{n} = tuple<!a{n + 1}>\n" for n in range(10_000)) + '"a.b"() {a = !a0} : () -> ()',
        "!a0 = i8\n" + "".join(f"!a{n + 1} = tuple<!a{n}>\n" for n in range(10_000)),
        "!a0 = i8\n" + "".join(f"!a{n + 1} = tuple<!a{n}>\n{GENERIC % f'!a{n}'}\n" for n in range(99)),
        GENERIC % ("affine_map<(d0) -> (" + "(" * 10_000),
        GENERIC % ("affine_map<(d0) -> (" + "-" * 10_000),
        GENERIC % ("!quant.uniform<i8:f32:{0:1}, " + "{" * 10_000),
    ],
    ids=lambda text: text[:24],
)
def test_deep_nesting_is_a_diagnostic(text):
    refused(text, allow_unregistered=True)


@pytest.mark.parametrize("levels", range(58, 66))
@pytest.mark.parametrize("nest", ["types", "regions"])
def test_what_parses_without_a_module_parses_within_the_printed_one(nest, levels):
    text = f"func.func private @f({'memref<' * levels}f32{'>' * levels})"
    if nest == "regions":
        body = "scf.execute_region {\n" * levels + "scf.yield\n" + "}\nscf.yield\n" * (levels - 1) + "}\n"
        text = f"func.func @f() {{\n{body if levels else ''}return\n}}"
    if levels + (nest == "regions") > 63:
        assert "nested more than 64 levels deep" in refused(text).message
    else:
        assert str(ir.parse(str(ir.parse(text)))) == str(ir.parse(text))


def test_an_alias_of_itself_is_a_diagnostic():
    assert "refers to itself" in refused("func.func private @f(!a)\n!a = tuple<!b>\n!b = tuple<!a>").message
    assert "is not defined" in refused("func.func private @f(!a)").message


@pytest.mark.parametrize(
    "step",
    [
        "!{} = tuple<{}, {}>",
        "!{} = ({}) -> {}",
        "#{} = [{}, {}]",
        "#{} = {{a = {}, b = {}}}",
        "#{} = loc(fused[{}, {}])",
    ],
)
@pytest.mark.parametrize("order", [1, -1], ids=["defined first", "used first"])
def test_aliases_that_double_are_a_diagnostic(step, order):
    """60 lines that stand for 2^60 values."""
    sigil = step[0]
    first = {"!": "i8", "#": '[loc("x")]' if "loc" not in step else 'loc("x")'}[sigil]
    lines = [f"{sigil}a0 = {first}"]
    for n in range(60):
        lines.append(step.format(f"a{n + 1}", f"{sigil}a{n}", f"{sigil}a{n}"))
    text = "\n".join([*lines, GENERIC % f"{sigil}a60"][::order])
    assert re.search("is too long: more than|nested more than", refused(text, allow_unregistered=True).message)


def test_aliases_of_aliases_are_read():
    text = "!q = !quant.uniform<i8:f32, 0.5>\n!t = tensor<4x!q>\n!u = tuple<!t, !t>\nfunc.func private @f(!u)"
    assert str(ir.parse(text)).count("tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f\1() { return }", "control character"),
        ("\1", "control character"),
        ("\ufeffmodule {}", "expected an operation"),
        ('"a.b"() {a = dense<1> : tensor<99999999999999999999xi8>} : () -> ()', "invalid dimension: expected at most"),
        ('"a.b"() {a = dense<[1, 2]> : tensor<9223372036854775807xi8>} : () -> ()', "inferred shape"),
        ('"a.b"() {a = dense<> : tensor<9223372036854775807xi8>} : () -> ()', "element literal"),
        ('"a.b"() {a = dense<"0x0102"> : tensor<9223372036854775807xi8>} : () -> ()', "must have"),
        ('"a.b"() {a = ' + "9" * 10_000 + "} : () -> ()", "out of range"),
        (GENERIC % "dense<1> : tensor<9223372036854775807x2xi8>", "bytes"),
        (GENERIC % "dense<1.0> : tensor<9223372036854775807xf32>", "bytes"),
        (GENERIC % "dense<> : tensor<0x9223372036854775807x2xi8>", "bytes"),
        (GENERIC % f"dense<1> : tensor<{'1x' * 65}i8>", "64 dimensions"),
        (GENERIC % f"dense<[{'1, ' * 400}1]> : tensor<{HUGE}xi8>", "inferred shape"),
        (GENERIC % f"dense<[{'1, ' * 400}1]> : tensor<0x{HUGE}xi8>", "bytes"),
        (GENERIC % f"affine_map<(d0) -> (d0{' + d0' * 300})>", "256 operators"),
        (GENERIC % f"affine_map<(d0) -> (d0{' - (d0 + 1)' * 120})>", "256 operators"),
        (GENERIC % f"affine_map<(d0) -> (d0 + {HUGE + 1})>", "integer value too large"),
        (GENERIC % '"\ud800"', "is not a valid character"),
        (GENERIC % "#a.b<\udcff>", "is not a valid character"),
        ('%0:4000000000 = "a.b"() : () -> i32', "was provided"),
        ('%0:999999999999 = "a.b"() : () -> i32', "was provided"),
        ('"a.b"(%0#99999999999) : (i32) -> ()', "undeclared"),
    ],
)
def test_hostile_text(text, message):
    assert message in refused(text, allow_unregistered=True).message


def test_an_enormous_splat_takes_no_memory():
    module = ir.parse('"a.b"() {a = dense<7> : tensor<9223372036854775807xi8>} : () -> ()', allow_unregistered=True)
    value = next(iter(module.body)).attributes["a"]
    assert value.array.strides == (0,)
    assert "dense<7> : tensor<9223372036854775807xi8>" in str(module)


MEGA = 1 << 20
LONG_LINES = {
    "digits": "9" * MEGA,
    "spaces": " " * MEGA + "?",
    "spaces in an op": '"a.b"()' + " " * MEGA + "?",
    "spaces in a vector": GENERIC % ("vector<" + " " * MEGA + "?"),
    "spaces after a name": "%a" + " " * MEGA,
    "parentheses": GENERIC % ("(" * MEGA),
    "angle brackets": GENERIC % ("#a.b" + "<" * MEGA),
    "angle pairs": '"a.b"() : (a<<' + "<>" * (MEGA // 2),
    "an op name": "a" * MEGA,
    "a string": GENERIC % ('"' + "a" * MEGA),
    "a string of escapes": GENERIC % ('"' + "\\41" * (MEGA // 3)),
    "strings": '"a.b"() {' + '""' * (MEGA // 2),
    "hex": GENERIC % ('dense<"0x' + "00" * (MEGA // 2) + '"> : tensor<4xi8>'),
    "names": "%a" + ", %a" * (MEGA // 4),
    "elements": GENERIC % ("dense<[" + "1," * (MEGA // 2) + "1]> : tensor<4xi8>"),
    "elements and a word": GENERIC % ("dense<[" + "1," * (MEGA // 2) + "x]> : tensor<4xi8>"),
    "comments": "//" * MEGA + "\n" + "//\n" * (MEGA // 3) + "?",
    "dimensions": GENERIC % ("tensor<" + "1x" * (MEGA // 2) + "?"),
    "an integer": GENERIC % ("9" * MEGA),
    "a scale": GENERIC % ("!quant.uniform<i8:f32, 1.0e" + "9" * MEGA + ">"),
    "a storage type": GENERIC % ("!quant.uniform<i" + "8" * MEGA + ":f32, 1.0>"),
    "products": GENERIC % ("affine_map<(d0) -> (1" + " * 9" * (MEGA // 4) + ")>"),
    "a resource section": "{-# external_resources: {" + "(" * MEGA,
}


@pytest.mark.parametrize("name", LONG_LINES)
def test_a_long_line_is_refused_in_memory_for_a_few_of_its_copies(name):
    """Matchers that keep a step for every character took 130 bytes for each; some took time without end."""
    tracemalloc.start()
    try:
        refused(LONG_LINES[name], allow_unregistered=True)
        assert tracemalloc.get_traced_memory()[1] < 12 * MEGA
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ['"' + "a" * MEGA + '"', "1." + "1" * MEGA, "1.0e" + "9" * MEGA, f"[{'1,' * 9999}1]"])
def test_a_long_literal_is_read(text):
    ir.parse(GENERIC % text, allow_unregistered=True).verify()


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("upstream", [False, True])
@pytest.mark.parametrize("shape", [f"{HUGE}", f"{HUGE}x{HUGE}", "1x" * 65 + "1", f"0x{HUGE}"])
def test_passes_allocate_nothing_for_an_enormous_shape(name, upstream, shape):
    plain, stored = f"tensor<{shape}xf32>", f"tensor<{shape}x!quant.uniform<i8:f32, 0.5:3>>"
    text = f"""func.func @f(%x: {plain}) -> {plain} {{
      %0 = quant.qcast %x : {plain} to {stored}
      %1 = quant.dcast %0 : {stored} to {plain}
      return %1 : {plain}
    }}"""
    if name == "quant-to-integer-types":  # arithmetic is lowered before it
        with pytest.raises(VerifyError, match="run lower-quant-ops first"):
            run_passes(ir.parse(text), name, strict_upstream=upstream)
        return
    assert f"tensor<{shape}xf32>" in str(run_passes(ir.parse(text), name, strict_upstream=upstream))


def test_constants_of_an_enormous_shape_are_not_folded():
    text = f"""func.func @f() -> tensor<{HUGE}xf32> {{
      %c = arith.constant dense<1> : tensor<{HUGE}xi8>
      %0 = quant.scast %c : tensor<{HUGE}xi8> to tensor<{HUGE}x!quant.uniform<i8:f32, 0.5>>
      %1 = quant.dcast %0 : tensor<{HUGE}x!quant.uniform<i8:f32, 0.5>> to tensor<{HUGE}xf32>
      return %1 : tensor<{HUGE}xf32>
    }}"""
    assert "quant.dcast" in str(run_passes(ir.parse(text), "canonicalize"))
    with pytest.raises(ModelError, match="bytes"):
        qrt.compile(text)


LARGE = 1 << 33
OF_ENORMOUS_CONSTANTS = {
    "rank": f"""%c = shape.const_shape [1, 2] : tensor<2xindex>
      %s = arith.constant dense<3> : tensor<{LARGE}xindex>
      %0 = shape.broadcast %c, %s : tensor<2xindex>, tensor<{LARGE}xindex> -> tensor<?xindex>
      %1 = shape.num_elements %s : tensor<{LARGE}xindex> -> index
      "k.use"(%0, %1) : (tensor<?xindex>, index) -> ()""",
    "insert": f"""%c = arith.constant dense<3> : vector<{LARGE}xi32>
      %e = arith.constant 5 : i32
      %p = arith.constant dense<4> : vector<2xi32>
      %0 = vector.insert %e, %c [1] : i32 into vector<{LARGE}xi32>
      %1 = vector.insert_strided_slice %p, %c {{offsets = [1], strides = [1]}} : vector<2xi32> into vector<{LARGE}xi32>
      "k.use"(%0, %1) : (vector<{LARGE}xi32>, vector<{LARGE}xi32>) -> ()""",
    "inserts": f"""%c = "k.make"() : () -> vector<2x{LARGE}xi32>
      %p = "k.make"() : () -> vector<{LARGE}xi32>
      %0 = vector.insert %p, %c [0] : vector<{LARGE}xi32> into vector<2x{LARGE}xi32>
      %1 = vector.insert %p, %0 [1] : vector<{LARGE}xi32> into vector<2x{LARGE}xi32>
      "k.use"(%1) : (vector<2x{LARGE}xi32>) -> ()""",
    "shuffle": f"""%c = arith.constant dense<3> : vector<{LARGE}xi32>
      %0 = vector.shuffle %c, %c [0, {LARGE}] : vector<{LARGE}xi32>, vector<{LARGE}xi32>
      "k.use"(%0) : (vector<2xi32>) -> ()""",
    "splats": f"""%c = arith.constant dense<3> : vector<1xi32>
      %0 = vector.broadcast %c : vector<1xi32> to vector<{HUGE}xi32>
      %1 = vector.constant_mask [{HUGE}, {HUGE}] : vector<{HUGE}x{HUGE}xi1>
      "k.use"(%0, %1) : (vector<{HUGE}xi32>, vector<{HUGE}x{HUGE}xi1>) -> ()""",
    "place": f"""%v = "k.make"() : () -> vector<2x{1 << 62}x4xi32>
      %0 = vector.shape_cast %v : vector<2x{1 << 62}x4xi32> to vector<{1 << 62}x2x4xi32>
      %1 = vector.extract %0[{(1 << 62) - 1}, 1] : vector<4xi32> from vector<{1 << 62}x2x4xi32>
      "k.use"(%1) : (vector<4xi32>) -> ()""",
    "mask": f"""%m = arith.constant dense<true> : vector<{LARGE}xi1>
      %t, %i, %p = "k.make"() : () -> (tensor<{LARGE}xi32>, index, i32)
      %0 = vector.transfer_read %t[%i], %p, %m : tensor<{LARGE}xi32>, vector<{LARGE}xi32>
      "k.use"(%0) : (vector<{LARGE}xi32>) -> ()""",
    "reshape": f"""%c = arith.constant dense<3> : tensor<{LARGE}xi32>
      %s = arith.constant dense<[2, {LARGE // 2}]> : tensor<2xindex>
      %0 = tensor.reshape %c(%s) : (tensor<{LARGE}xi32>, tensor<2xindex>) -> tensor<2x{LARGE // 2}xi32>
      "k.use"(%0) : (tensor<2x{LARGE // 2}xi32>) -> ()""",
    "quotient": f"""%c = arith.constant dense<3> : tensor<{LARGE}xi32>
      %x = "k.make"() : () -> tensor<{LARGE}xi32>
      %i = arith.constant 1 : index
      scf.for %j = %i to %i step %i {{
        %0 = arith.divsi %x, %c : tensor<{LARGE}xi32>
        "k.use"(%0) : (tensor<{LARGE}xi32>) -> ()
      }}""",
    "computed": f"""%c = arith.constant dense<3> : tensor<{LARGE}xi32>
      %0 = arith.addi %c, %c : tensor<{LARGE}xi32>
      "k.use"(%0) : (tensor<{LARGE}xi32>) -> ()""",
}


@pytest.mark.parametrize("name", OF_ENORMOUS_CONSTANTS)
@pytest.mark.parametrize("pipeline", ["canonicalize", "constant-fold", "loop-invariant-code-motion"])
def test_passes_write_no_enormous_constants(name, pipeline):
    text = f"func.func @f() {{ {OF_ENORMOUS_CONSTANTS[name]}\n return }}"
    module = ir.parse(text, allow_unregistered=True)
    module.verify()
    tracemalloc.start()
    try:
        run_passes(module, pipeline)
        assert tracemalloc.get_traced_memory()[1] < 12 * MEGA
    finally:
        tracemalloc.stop()
    assert ir.parse(str(module), allow_unregistered=True) == module


@pytest.mark.parametrize("size", [134217728, 1 << 62])
def test_results_that_only_a_type_counts_are_a_diagnostic(size):
    text = f"func.func @f(%v: vector<{size}xf32>) {{ vector.to_elements %v : vector<{size}xf32> return }}"
    assert "at most 65536 results" in refused(text).message
    generic = f'func.func @f(%v: vector<{size}xf32>) {{ "vector.to_elements"(%v) : (vector<{size}xf32>) -> () return }}'
    assert f"must have {size} results" in refused(generic).message


@pytest.mark.parametrize(
    "made",
    [
        f"vector.step : vector<{1 << 62}xindex>",
        f"vector.constant_mask [{1 << 62}, 2] : vector<{1 << 62}x2xi1>",
        f"vector.constant_mask [{1 << 58}] : vector<{1 << 58}xi1>",
        f"vector.step : vector<{1 << 58}xindex>",
    ],
)
def test_a_vector_larger_than_memory_is_a_diagnostic(made):
    with pytest.raises(ModelError, match=r"bytes|more memory than is available"):
        qrt.compile(f"func.func @f() {{ %0 = {made} return }}")


def test_a_program_larger_than_memory_is_a_diagnostic():
    t = f"tensor<{1 << 58}xi8>"
    with pytest.raises(ModelError, match="needs more memory than is available"):
        qrt.compile(f"func.func @f() -> {t} {{ %c = arith.constant dense<1> : {t} return %c : {t} }}")


@pytest.mark.parametrize("shape", ["1x" * 65, f"{HUGE}x{HUGE}x"])
def test_a_shape_that_no_array_has_is_a_diagnostic(shape):
    t = f"tensor<{shape}x!quant.uniform<i8:f32, 0.5>>".replace("xx", "x")
    with pytest.raises(ModelError, match=r"dimensions|bytes"):
        qrt.compile(
            f"func.func @f(%x: {t}) -> {t} {{ %0 = qrt.add %x, %x : ({t}, {t}) -> {t} return %0 : {t} }}",
        )


def test_constants_of_the_most_dimensions_print():
    text = GENERIC % f"dense<{'[' * 63}1{']' * 63}> : tensor<{'1x' * 63}i8>"
    assert f"dense<1> : tensor<{'1x' * 63}i8>" in str(ir.parse(text, allow_unregistered=True))


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b"", 0, ""),
        (b"func.func @f() {\r\n  return\r\n}\r\n", 0, ""),
        (
            b"func.func @f() {\r\n  retur\r\n}\r\n",
            1,
            "x.mlir:2:3: error: custom op 'retur' is unknown\n  retur\n  ^~~~~\n",
        ),
        (b"module {\1}", 1, "found the control character '\\x01'"),
        (b"module {\0}", 0, ""),
        (b"module {\xff}", 1, "x.mlir: expected UTF-8 text, got other bytes: invalid start byte at byte 8"),
        (b"// \xed\xa0\x80", 1, "expected UTF-8 text"),
        (b"\xef\xbb\xbfmodule {}", 1, "x.mlir:1:1: error: expected an operation"),
    ],
    ids=[
        "empty",
        "carriage returns",
        "carriage returns in an error",
        "a control character",
        "NUL",
        "not UTF-8",
        "a surrogate",
        "a BOM",
    ],
)
def test_files_that_are_no_text(data, status, message, tmp_path, capsys):
    path = tmp_path / "x.mlir"
    path.write_bytes(data)
    assert main(["opt", str(path)]) == status
    assert message in capsys.readouterr().err


def test_a_directory_is_a_diagnostic(tmp_path, capsys):
    assert main(["opt", str(tmp_path)]) == 1
    assert "Is a directory" in capsys.readouterr().err


def test_an_op_name_of_escapes_prints_as_it_was():
    module = ir.parse('"a\\7F.b"() : () -> ()', allow_unregistered=True)
    assert next(iter(module.body)).name == "a\x7f.b"
    assert ir.parse(str(module), allow_unregistered=True) == module


def test_equal_constants_hash_alike_and_others_do_not():
    """Dictionaries of constants are searched one by one where every constant of a type has one hash."""
    literals = ["1", "[1, 1]", "[1, 2]", "[2, 1]", "[2, 2]"]
    texts = [GENERIC % f"dense<{literal}> : tensor<2xi8>" for literal in literals]
    values = [next(iter(ir.parse(text, allow_unregistered=True).body)).attributes["a"] for text in texts]
    assert values[0] == values[1]
    assert len({*map(hash, values)}) == len({*values}) == 4


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[%@#!^]?[\w$.]+|->|\s+|.', re.DOTALL)
# fmt: off
JUNK = [
    "0", "-1", "1e400", "1.0e999", "9223372036854775807", "18446744073709551616", "0xFFFFFFFFFFFFFFFFFF",
    "tensor<0x4xi8>", "tensor<*xf32>", "dense<>", "dense<1>", 'dense<"0x">', "f80", "bf16", "f4E2M1FN", "i0", "i1",
    "i65", "index", "none", "()", "\0", "\x7f", "é", "%0#1", "%0:0", "%0:2", "^bb0", "loc(unknown)", "{", "}", "<",
    ">", "(", ")", "[", "]", ",", ":", "=", '"', "//", "#", "!", "@", "%", "-", "*", "?", "x", "unit", "true",
    "!quant.any<i8>", "!quant.calibrated<f32<-1.0:1.0>>", "!quant.uniform<i8:f32:0,{1.0,2.0}>",
    "!quant.uniform<i8:f32:{0:1},{{1.0}}>", "affine_map<(d0)->(d0)>",
]
# fmt: on


def mutant(draw):
    """A valid program with one to three tokens removed, replaced, repeated or exchanged, or one character."""
    tokens = TOKEN.findall(draw.choice([text for text in (PROGRAMS | UNREGISTERED).values() if text]))
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        match draw.randrange(5):
            case 0:
                tokens[at] = ""
            case 1:
                tokens[at] = tokens[other]
            case 2:
                tokens[at] = draw.choice(JUNK)
            case 3:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                word = tokens[at]
                cut = draw.randrange(len(word) + 1)
                tokens[at] = word[:cut] + draw.choice('\0\t\n"%(<>[]{}/\\é\u2028 z0') + word[cut + draw.randrange(2) :]
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(400))
def test_a_mutant_is_read_and_transformed_or_refused(seed):
    draw = random.Random(seed)
    text = mutant(draw)
    try:
        module = ir.parse(text, allow_unregistered=draw.random() < 0.8)
        module.verify(strict=draw.random() < 0.2)
        generic = module.print(generic=True)
        assert ir.parse(generic, allow_unregistered=True) == module
        run_passes(module, draw.choice([*PASSES]), strict_upstream=draw.random() < 0.3)
        str(module)
    except QuantError as error:
        str(error)


def test_every_diagnostic_of_the_cast_program_shows_its_line():
    error = refused(CAST.replace("return %0", "return %1"))
    assert str(error) == (
        "f.mlir:3:10: error: use of undeclared SSA value name '%1'\n"
        "  return %1 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>\n"
        "         ^~"
    )
