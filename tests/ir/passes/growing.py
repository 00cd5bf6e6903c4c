"""Programs of as many operations as one asks for, and what each is a hazard to: chains, a constant or an argument that
everything uses, results that nothing uses, many blocks, many functions, a long loop."""

QUANTIZED = "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"


def _function(arguments, result, lines):
    arrow = f" -> {result}" if result else ""
    return "\n".join([f"func.func @f({arguments}){arrow} {{", *lines, "}"])


def casts(count):
    lines = []
    for n in range(0, count, 2):
        lines.append(f"  %q{n} = quant.qcast %v{n} : tensor<4xf32> to {QUANTIZED}")
        lines.append(f"  %v{n + 2} = quant.dcast %q{n} : {QUANTIZED} to tensor<4xf32>")
    return _function("%v0: tensor<4xf32>", "tensor<4xf32>", [*lines, f"  return %v{count} : tensor<4xf32>"])


def _integers(count, second, made="%c = arith.constant 7 : i32", returned=True):
    ops = [f"  %v{n + 1} = arith.{('xori', 'muli')[n % 2]} %v{n}, {second} : i32" for n in range(count)]
    end = f"  return %v{count} : i32" if returned else "  return"
    return _function("%v0: i32, %y: i32", "i32" if returned else "", [made, *ops, end])


def shared_constant(count):
    return _integers(count, "%c")


def dead_chain(count):
    return _integers(count, "%y", returned=False)


def constants(count):
    return _integers(count, "%v0", "%v0 = arith.constant 3 : i32").replace("%v0: i32, ", "", 1)


def many_constants(count):
    lines = ["  %v0 = arith.addi %y, %y : i32"]
    for n in range(count // 2):
        lines += [f"  %c{n} = arith.constant {n % 3} : i32", f"  %v{n + 1} = arith.muli %v{n}, %c{n} : i32"]
    return _function("%y: i32", "i32", [*lines, f"  return %v{count // 2} : i32"])


def dead_users(count):
    lines = ["  %c = arith.constant 7 : i32", *(f"  %v{n} = arith.muli %y, %c : i32" for n in range(count))]
    return _function("%y: i32", "", [*lines, "  return"])


def loop(count):
    lines = ["  %i = arith.constant 0 : index %s = arith.constant 1 : index", "  scf.for %j = %i to %n step %s {"]
    lines += [f"  %v{n} = arith.xori %{f'v{n - 1}' if n else 'x'}, %y : i32" for n in range(count)]
    lines += [f"  memref.store %v{count - 1}, %m[%j] : memref<?xi32>", "  }", "  return"]
    return _function("%x: i32, %y: i32, %n: index, %m: memref<?xi32>", "", lines)


def blocks(count):
    lines = ["  cf.br ^b0(%x : i32)"]
    for n in range(count // 3):
        back = n - 1 if n else 1
        lines += [f"^b{n}(%v{n}: i32):", f"  %w{n} = arith.addi %v{n}, %x : i32"]
        lines.append(f"  cf.cond_br %b, ^b{n + 1}(%w{n} : i32), ^b{back}(%w{n} : i32)")
    return _function("%x: i32, %b: i1", "i32", [*lines, f"^b{count // 3}(%z: i32):", "  return %z : i32"])


def backward_blocks(count):
    """Each block stands before the one whose value it reads."""
    last = count // 3 - 1
    lines = ["  %v = arith.constant 7 : i32", f"  cf.br ^b{last}"]
    for n in range(last + 1):
        source, target = ("%v" if n == last else f"%v{n + 1}"), (f"^b{n - 1}" if n else "^end")
        lines += [f"^b{n}:", f"  %v{n} = arith.addi {source}, %v : i32", f"  cf.br {target}"]
    return _function("", "i32", [*lines, "^end:", "  return %v0 : i32"])


def branches(count):
    """Constants in branches that stay, after a value that each of them reads."""
    lines = ["  %c = arith.constant 7 : i32", "  %v0 = arith.addi %c, %c : i32"]
    for n in range(count // 4):
        lines += [f"  %v{n + 1} = scf.if %b -> i32 {{", f"    %w{n} = arith.addi %v0, %c : i32"]
        lines += [f"    scf.yield %w{n} : i32", "  } else {", f"    scf.yield %v{n} : i32", "  }"]
    return _function("%b: i1", "i32", [*lines, f"  return %v{count // 4} : i32"])


def _chain(count, type, spell):
    lines = [f"  %v{n + 1} = {spell(n)}" for n in range(count)]
    return _function(f"%v0: {type}, %w: {type}", type, [*lines, f"  return %v{count} : {type}"])


def kernels(count):
    t = QUANTIZED
    return _chain(count, t, lambda n: f'qrt.add %v{n}, %w {{requant = "fixed"}} : ({t}, {t}) -> {t}')


def tensors(count):
    return _chain(count, "tensor<4xf32>", lambda n: f"arith.{('addf', 'mulf')[n % 2]} %v{n}, %w : tensor<4xf32>")


def named(count):
    t = "tensor<4xf32>"
    ops = ("add", "mul")
    return _chain(count, t, lambda n: f"linalg.{ops[n % 2]} ins(%v{n}, %w : {t}, {t}) outs(%w : {t}) -> {t}")


def calls(count):
    callee = "func.func private @g(%x: i32) -> i32 { %0 = arith.muli %x, %x : i32 return %0 : i32 }\n"
    lines = [f"  %v{n + 1} = call @g(%v{n}) : (i32) -> i32" for n in range(count)]
    return callee + _function("%v0: i32", "i32", [*lines, f"  return %v{count} : i32"])


def functions(count):
    lines = [
        f"func.func @f{n}(%x: {QUANTIZED}) -> {QUANTIZED} {{ return %x : {QUANTIZED} }}" for n in range(count // 2)
    ]
    return "\n".join(lines)


def symbols(count):
    return "\n".join(f"func.func private @f{n}() {{ return }}" for n in range(count // 2))


def affine_sum(count):
    terms = " + ".join(f"d0 floordiv {n + 2}" for n in range(count // 4))  # at most 256 operators are read
    return _function(
        "%x: index", "index", [f"  %0 = affine.apply affine_map<(d0) -> ({terms})>(%x)", "  return %0 : index"]
    )


MEASURED = {
    casts: ("parse", "verify", "print", "compile", "lower-quant-ops", "canonicalize", "cse", "dce"),
    shared_constant: ("parse", "canonicalize", "inline", "cse", "compile"),
    dead_chain: ("canonicalize", "dce", "cse"),
    dead_users: ("canonicalize", "dce", "cse"),
    constants: ("canonicalize", "constant-fold", "fold-plan-constants", "compile"),
    many_constants: ("canonicalize", "constant-fold", "print"),
    backward_blocks: ("constant-fold", "canonicalize"),
    branches: ("constant-fold", "fold-plan-constants", "compile"),
    loop: ("canonicalize", "loop-invariant-code-motion", "verify", "compile"),
    blocks: ("parse", "verify", "print", "canonicalize", "cse", "loop-invariant-code-motion"),
    kernels: ("lower-qrt", "compile"),
    tensors: ("convert-elementwise-to-linalg",),
    named: ("linalg-generalize-named-ops", "fuse-kernels", "compile"),
    calls: ("inline", "verify", "compile"),
    functions: ("strip-func-quant-types", "quant-to-integer-types", "normalize-quant-types", "verify"),
    symbols: ("symbol-dce",),
    affine_sum: ("parse",),
}
CASES = [(program, name) for program, names in MEASURED.items() for name in names]
