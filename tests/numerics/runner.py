"""Real mlir-runner 22: programs lowered by mlir-opt's own passes and executed, results as bits.

Floats that LLVM has not (f8 and narrower, tf32) compute through APFloat, by `--convert-arith-to-apfloat`.
"""

from tests import mlir_opt, mlir_runner

NATIVE = (
    "arith-expand,math-expand-ops{ops=clampf,sincos,rsqrt},convert-math-to-llvm,convert-math-to-funcs{convert-ctlz=0},"
    "convert-math-to-libm,convert-scf-to-cf,convert-cf-to-llvm,convert-arith-to-llvm,convert-func-to-llvm,"
    "reconcile-unrealized-casts"
)
APFLOAT = "convert-arith-to-apfloat,convert-math-to-apfloat," + NATIVE
"""The passes that lower `arith`, `math`, `scf`, `cf` and `func` to LLVM."""
_LIBRARIES = ("runner_utils", "c_runner_utils", "float16_utils", "apfloat_wrappers")
_PRINTING = "func.func private @printI64(i64)\nfunc.func private @printNewline()\n"
_CALLS_A_FUNCTION = 400  # LLVM takes more than linear time for a function's length

needed = mlir_opt.needed


def width_of(type):
    """The bits of a scalar type; index has 64."""
    from qrt.types import IndexType, parse_type

    parsed = parse_type(type)
    return 64 if isinstance(parsed, IndexType) else parsed.width


def execute(functions, calls, pipeline=NATIVE):
    """The results of calls as bit patterns, a tuple per call. `functions` is the text of functions on scalars; a call
    is (name, ((bits, type), ...), (result type, ...)). Raises AssertionError with the tools' message if they fail."""
    parts = [calls[i : i + _CALLS_A_FUNCTION] for i in range(0, len(calls), _CALLS_A_FUNCTION)]
    bodies = [_caller(f"calls{i}", part) for i, part in enumerate(parts)]
    main = "\n".join(f"  func.call @calls{i}() : () -> ()" for i in range(len(parts)))
    bodies.append(f"func.func @main() {{\n{main}\n  return\n}}\n")
    printed = iter(run(_PRINTING + functions + "".join(bodies), pipeline).split())
    return [tuple(int(next(printed)) & (1 << width_of(type)) - 1 for type in call[2]) for call in calls]


def run(text, pipeline=NATIVE):
    """What a module's `@main() -> ()` prints."""
    accepted, lowered = mlir_opt.upstream(text, f"--pass-pipeline=builtin.module({pipeline})")
    assert accepted, lowered[:2000]
    done = mlir_runner.run(lowered.encode(), *_LIBRARIES)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    return done.stdout.decode()


def _caller(name, calls):
    """A function that makes calls and prints each result as the i64 of its bits."""
    lines = []
    for i, (callee, operands, results) in enumerate(calls):
        names = [f"%c{i}_{j}" for j in range(len(operands))]
        for value, (bits, type) in zip(names, operands, strict=True):
            lines += _constant(value, bits, type)
        made = f"%r{i}:{len(results)}"
        types = ", ".join(type for _, type in operands)
        lines.append(f"{made} = func.call @{callee}({', '.join(names)}) : ({types}) -> ({', '.join(results)})")
        for j, type in enumerate(results):
            lines += _printed(f"%r{i}#{j}", f"%p{i}_{j}", type)
    return f"func.func @{name}() {{\n  " + "\n  ".join([*lines, "return"]) + "\n}\n"


def _constant(value, bits, type):
    if type[0] == "i":
        return [f"{value} = arith.constant {_literal(bits, type)}"]
    integer = f"i{width_of(type)}"
    return [
        f"{value}_ = arith.constant {_literal(bits, integer)}",
        f"{value} = arith.bitcast {value}_ : {integer} to {type}",
    ]


def _literal(bits, type):
    width = width_of(type)
    if width == 1:
        return "true" if bits & 1 else "false"
    return f"{bits - (1 << width if bits >> width - 1 & 1 else 0)} : {type}"


def _printed(value, name, type):
    lines = []
    if type == "index":
        lines.append(f"{name} = arith.index_cast {value} : index to i64")
        value = name
    elif type[0] != "i":
        lines.append(f"{name}_ = arith.bitcast {value} : {type} to i{width_of(type)}")
        value = f"{name}_"
    if type != "index" and width_of(type) < 64:
        lines.append(f"{name} = arith.extui {value} : i{width_of(type)} to i64")
        value = name
    return [*lines, f"func.call @printI64({value}) : (i64) -> ()", "func.call @printNewline() : () -> ()"]
