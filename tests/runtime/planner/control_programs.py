"""Programs with loops and branches whose every step is a kernel. They take a count, and two tensors."""

INT, T, Q = "tensor<i32>", "tensor<4xi32>", "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"
LONG = Q.replace("4x", "12x")


def loop(carried: dict[str, tuple[str, str]], body: str, yields: str, *, forward: str = "", result: str = "%r") -> str:
    """A loop of %n rounds: `carried` has the type and the first value of each name; %i counts."""
    names = {"%i": (INT, "%zero"), **carried}
    types = ", ".join(t for t, _ in names.values())
    given = ", ".join(f"{name} = {value}" for name, (_, value) in names.items())
    arguments = ", ".join(f"{name}: {t}" for name, (t, _) in names.items())
    return f"""{result}:{len(names)} = scf.while ({given}) : ({types}) -> ({types}) {{
      %below = arith.cmpi slt, %i, %n : {INT}
      %goes = tensor.extract %below[] : tensor<i1>
      scf.condition(%goes) {forward or ", ".join(names)} : {types}
    }} do {{
    ^bb0({arguments}):
      %one = arith.constant dense<1> : {INT}
      %next = arith.addi %i, %one : {INT}
      {body}
      scf.yield %next, {yields} : {types}
    }}
    """


def main(body: str, results: str, types: str, before: str = "") -> str:
    return f"""{before}
  func.func @main(%n: {INT}, %x: {T}, %y: {T}) -> ({types}) {{
    %zero = arith.constant dense<0> : {INT}
    {body}
    return {results} : {types}
  }}"""


def two(body: str, yields: str, begin: tuple[str, str] = ("%x", "%y"), **options: str) -> str:
    """A program whose loop carries two tensors and gives them and the counter."""
    return main(loop({"%a": (T, begin[0]), "%b": (T, begin[1])}, body, yields, **options), "%r#0, %r#1, %r#2",
                f"{INT}, {T}, {T}")  # fmt: skip


def choice(condition: str, then: str, otherwise: str, types: str, result: str = "%w") -> str:
    count = types.count(">,") + 1
    return f"""%said{result[1:]} = arith.cmpi {condition} : {INT}
      %bool{result[1:]} = tensor.extract %said{result[1:]}[] : tensor<i1>
      {result}:{count} = scf.if %bool{result[1:]} -> ({types}) {{
        {then}
      }} else {{
        {otherwise}
      }}
    """


STATE = f"ml_program.global private mutable @v(dense<[1, 2, 3, 4]> : {T}) : {T}"
INNER = f"""%c3 = arith.constant dense<3> : {INT}
      %in:2 = scf.while (%j = %c3, %s = %a) : ({INT}, {T}) -> ({INT}, {T}) {{
        %more = arith.cmpi sgt, %j, %one : {INT}
        %go = tensor.extract %more[] : tensor<i1>
        scf.condition(%go) %j, %s : {INT}, {T}
      }} do {{
      ^bb0(%j: {INT}, %s: {T}):
        %k = arith.subi %j, %one : {INT}
        %u = arith.muli %s, %outer : {T}
        %v = arith.addi %u, %b : {T}
        scf.yield %k, %v : {INT}, {T}
      }}
      """
OUTER = f"%outer = arith.xori %x, %y : {T}\n"

ROWS, ROW = "tensor<8x4xi32>", f"[%k, 0] [1, 4] [1, 1] : {T}"


def rows(body: str, yields: str) -> str:
    """A program whose loop carries eight rows, of which `body` reads and replaces row %k, and a row %b."""
    index = f"%m = tensor.extract %i[] : {INT}\n      %k = arith.index_cast %m : i32 to index\n"
    row = f"%row = tensor.extract_slice %all[%k, 0] [1, 4] [1, 1] : {ROWS} to {T}\n"
    carried = {"%all": (ROWS, "%rows"), "%b": (T, "%x")}
    text = main(loop(carried, index + row + body, yields), "%r#1, %r#2", f"{ROWS}, {T}")
    return text.replace("%zero = ", f"%rows = arith.constant dense<7> : {ROWS}\n    %zero = ")


def counted(bounds: str, body: str, yields: str) -> str:
    """A program with an `scf.for` that carries eight rows and a row, with constant `bounds`."""
    lower, upper, step = bounds.split()
    return main(
        f"""%l = arith.constant {lower} : index
        %u = arith.constant {upper} : index
        %t = arith.constant {step} : index
        %rows = arith.constant dense<7> : {ROWS}
        %r:2 = scf.for %k = %l to %u step %t iter_args(%all = %rows, %b = %x) -> ({ROWS}, {T}) {{
          %row = tensor.extract_slice %all[%k, 0] [1, 4] [1, 1] : {ROWS} to {T}
          %c = arith.index_cast %k : index to i32
          %d = tensor.splat %c : {T}
          {body}
          scf.yield {yields} : {ROWS}, {T}
        }}""", "%r#0, %r#1", f"{ROWS}, {T}")  # fmt: skip


INSERT = f"%new = tensor.insert_slice %s into %all{ROW} into {ROWS}"
PROGRAMS = {
    "rows are replaced": rows(f"%s = arith.addi %row, %b : {T}\n{INSERT}", "%new, %s"),
    "rows are replaced, and the old ones read": rows(
        f"""%s = arith.addi %row, %b : {T}
        {INSERT}
        %old = tensor.extract_slice %all{ROW.replace(T, ROWS)} to {T}
        %t = arith.muli %old, %s : {T}""", "%new, %t"),
    "rows are replaced twice": rows(
        f"""%s = arith.addi %row, %b : {T}
        {INSERT}
        %1 = tensor.insert_slice %row into %new[%k, 0] [1, 4] [1, 1] : {T} into {ROWS}
        %2 = tensor.insert_slice %b into %new[0, 0] [1, 4] [1, 1] : {T} into {ROWS}
        %3 = arith.addi %1, %2 : {ROWS}""", "%3, %s"),
    "columns with a stride": rows(
        f"""%c = tensor.extract_slice %all[%k, 1] [1, 2] [1, 2] : {ROWS} to tensor<1x2xi32>
        %d = arith.addi %c, %c : tensor<1x2xi32>
        %new = tensor.insert_slice %d into %all[0, 0] [1, 2] [1, 3] : tensor<1x2xi32> into {ROWS}""", "%new, %row"),
    "a counted loop": counted(
        "0 8 1", f"%1 = arith.addi %row, %b : {T}\n%s = arith.muli %1, %d : {T}\n{INSERT}", "%new, %s"),
    "a counted loop with a step": counted("1 7 3", f"%s = arith.subi %row, %d : {T}\n{INSERT}", "%new, %b"),
    "a counted loop of no iterations": counted("3 3 1", f"%s = arith.subi %row, %d : {T}\n{INSERT}", "%new, %s"),
    "a counted loop from behind its end": counted("5 -3 2", f"%s = arith.subi %row, %d : {T}\n{INSERT}", "%new, %s"),
    "what is forwarded was computed from what is written over": main(
        f"""%r:2 = scf.while (%i = %n, %a = %x) : ({INT}, {T}) -> ({T}, {T}) {{
          %s = arith.addi %a, %y : {T}
          %below = arith.cmpi sgt, %i, %zero : {INT}
          %goes = tensor.extract %below[] : tensor<i1>
          scf.condition(%goes) %s, %a : {T}, {T}
        }} do {{
        ^bb0(%s: {T}, %a: {T}):
          %f = arith.constant dense<-1000> : {INT}
          scf.yield %f, %s : {INT}, {T}
        }}
        """, "%r#0, %r#1", f"{T}, {T}"),
    "counted": two(f"%s = arith.addi %a, %b : {T}", "%s, %b"),
    "values change places": two("", "%b, %a"),
    "values change places, and one is computed": two(f"%s = arith.addi %a, %b : {T}", "%b, %s"),
    "three go around": main(
        loop({"%a": (T, "%x"), "%b": (T, "%y"), "%c": (T, "%z")}, "", "%b, %c, %a"),
        "%r#1, %r#2, %r#3, %z", f"{T}, {T}, {T}, {T}",
    ).replace("    return", "    return").replace("%zero = ", f"%z = arith.addi %x, %y : {T}\n    %zero = "),
    "nothing changes": two("", "%a, %b"),
    "one value begins both, and goes on as both": two(f"%s = arith.addi %a, %b : {T}", "%s, %s", ("%x", "%x")),
    "one value goes on twice, and the other is lost": two("", "%b, %b"),
    "a value from outside goes on": two(f"%o = arith.muli %x, %b : {T}", "%x, %o"),
    "what is forwarded is not what is carried": two(
        f"%s = arith.subi %a, %b : {T}", "%s, %x", forward="%i, %b, %a"),
    "what is computed before the condition": main(
        f"""%r:2 = scf.while (%i = %n, %a = %x) : ({INT}, {T}) -> ({T}, {T}) {{
          %s = arith.addi %a, %y : {T}
          %below = arith.cmpi sgt, %i, %zero : {INT}
          %goes = tensor.extract %below[] : tensor<i1>
          scf.condition(%goes) %s, %a : {T}, {T}
        }} do {{
        ^bb0(%s: {T}, %a: {T}):
          %m = arith.muli %s, %a : {T}
          %f = arith.constant dense<-1000> : {INT}
          scf.yield %f, %m : {INT}, {T}
        }}
        """, "%r#0, %r#1", f"{T}, {T}"),
    "a value from outside that is read in every round": main(
        OUTER + loop({"%a": (T, "%x")}, f"%s = arith.subi %outer, %a : {T}", "%s"), "%r#1", T),
    "results are used behind it": main(
        loop({"%a": (T, "%x"), "%b": (T, "%y")}, f"%s = arith.addi %a, %b : {T}", "%b, %s")
        + f"%1 = arith.muli %r#1, %r#2 : {T}\n%2 = arith.subi %1, %r#1 : {T}", "%2, %r#1, %r#1", f"{T}, {T}, {T}"),
    "values of a tensor without elements": main(
        loop({"%a": ("tensor<0xi32>", "%e"), "%b": (T, "%x")}, "%s = arith.addi %a, %a : tensor<0xi32>", "%s, %b"),
        "%r#1, %r#2, %r#0", f"tensor<0xi32>, {T}, {INT}",
    ).replace("%zero = ", "%e = arith.constant dense<> : tensor<0xi32>\n    %zero = "),
    "a loop in a loop": main(
        OUTER + loop({"%a": (T, "%x"), "%b": (T, "%y")}, INNER, "%b, %in#1"), "%r#1, %r#2", f"{T}, {T}"),
    "a branch in a loop": two(
        choice("sgt, %i, %one", f"%s = arith.addi %a, %b : {T}\nscf.yield %s, %a : {T}, {T}",
               f"scf.yield %b, %x : {T}, {T}", f"{T}, {T}"), "%w#0, %w#1"),
    "a loop in a branch": main(
        choice("sgt, %n, %zero",
               OUTER + loop({"%a": (T, "%x"), "%b": (T, "%y")}, INNER, "%b, %in#1")
               + f"scf.yield %r#1, %r#1 : {T}, {T}",
               f"scf.yield %y, %x : {T}, {T}", f"{T}, {T}"), "%w#0, %w#1", f"{T}, {T}"),
    "branches that return one value twice": main(
        f"%t = arith.muli %x, %y : {T}\n" + choice(
            "sgt, %n, %zero", f"%s = arith.addi %t, %x : {T}\nscf.yield %s, %s, %t : {T}, {T}, {T}",
            f"%s = arith.subi %t, %x : {T}\nscf.yield %t, %s, %x : {T}, {T}, {T}", f"{T}, {T}, {T}")
        + f"%f = arith.addi %w#0, %w#1 : {T}", "%f, %w#1, %w#2", f"{T}, {T}, {T}"),
    "a result that is made early in a branch": main(
        f"%t = arith.muli %x, %y : {T}\n" + choice(
            "sgt, %n, %zero",
            f"""%s = arith.addi %t, %x : {T}
            %1 = arith.muli %s, %x : {T}
            %2 = arith.xori %s, %1 : {T}
            %3 = arith.muli %1, %2 : {T}
            scf.yield %s, %3 : {T}, {T}""", f"scf.yield %t, %x : {T}, {T}", f"{T}, {T}")
        + f"%f = arith.subi %w#0, %w#1 : {T}", "%f", T),
    "a branch that writes over what the other one reads": main(
        f"%t = arith.muli %x, %y : {T}\n" + choice(
            "sgt, %n, %zero", f"%1 = arith.addi %t, %x : {T}\n%2 = arith.muli %1, %1 : {T}\nscf.yield %2 : {T}",
            f"%1 = arith.subi %t, %y : {T}\n%2 = arith.muli %1, %t : {T}\nscf.yield %2 : {T}", T), "%w#0", T),
    "a branch without another": main(
        f"""%said = arith.cmpi sgt, %n, %zero : {INT}
        %bool = tensor.extract %said[] : tensor<i1>
        scf.if %bool {{ ml_program.global_store @v = %x : {T} }}
        %l = ml_program.global_load @v : {T}""", "%l", T, STATE),
    "a state that is added to in each round": main(
        loop({"%a": (T, "%x")}, f"""%l = ml_program.global_load @v : {T}
          %s = arith.addi %l, %a : {T}
          ml_program.global_store @v = %s : {T}""", "%l") + f"%l = ml_program.global_load @v : {T}",
        "%r#1, %l", f"{T}, {T}", STATE),
    "a state that is loaded before it changes": main(
        f"%old = ml_program.global_load @v : {T}\n"
        + loop({"%a": (T, "%old")}, f"""%s = arith.addi %a, %x : {T}
          ml_program.global_store @v = %s : {T}
          %o = arith.subi %s, %old : {T}""", "%o"), "%r#1, %old", f"{T}, {T}", STATE),
    "a state that is forwarded and then changes": main(
        f"""%r:2 = scf.while (%i = %n) : ({INT}) -> ({T}, {INT}) {{
          %l = ml_program.global_load @v : {T}
          %below = arith.cmpi sgt, %i, %zero : {INT}
          %goes = tensor.extract %below[] : tensor<i1>
          scf.condition(%goes) %l, %i : {T}, {INT}
        }} do {{
        ^bb0(%l: {T}, %i: {INT}):
          ml_program.global_store @v = %x : {T}
          %s = arith.muli %l, %y : {T}
          ml_program.global_store @v = %s : {T}
          %h = arith.constant dense<2> : {INT}
          %j = arith.subi %i, %h : {INT}
          scf.yield %j : {INT}
        }}""", "%r#0, %r#1", f"{T}, {INT}", STATE),
    "numbers that are no tensors": main(
        f"""%c0 = arith.constant 0 : index
        %m = tensor.extract %n[] : {INT}
        %r:3 = scf.while (%i = %m, %k = %c0, %a = %x) : (i32, index, {T}) -> (i32, index, {T}) {{
          %z = arith.constant 0 : i32
          %goes = arith.cmpi sgt, %i, %z : i32
          scf.condition(%goes) %i, %k, %a : i32, index, {T}
        }} do {{
        ^bb0(%i: i32, %k: index, %a: {T}):
          %one = arith.constant 1 : i32
          %c1 = arith.constant 1 : index
          %j = arith.subi %i, %one : i32
          %l = arith.addi %k, %c1 : index
          %t = tensor.splat %j : {T}
          %s = arith.addi %a, %t : {T}
          scf.yield %j, %l, %s : i32, index, {T}
        }}""", "%r#0, %r#1, %r#2", f"i32, index, {T}"),
    "functions are called": main(
        loop({"%a": (T, "%x"), "%b": (T, "%y")}, f"%s:2 = func.call @f(%a, %b) : ({T}, {T}) -> ({T}, {T})",
             "%s#0, %s#1"), "%r#1, %r#2", f"{T}, {T}",
        f"""func.func private @g(%a: {T}) -> {T} {{
          %k = arith.constant dense<3> : {T}
          %0 = arith.muli %a, %k : {T}
          return %0 : {T}
        }}
        func.func private @f(%a: {T}, %b: {T}) -> ({T}, {T}) {{
          %0 = call @g(%b) : ({T}) -> {T}
          %1 = call @g(%0) : ({T}) -> {T}
          return %1, %a : {T}, {T}
        }}"""),
    "kernels of quantized values": main(
        f"""%q = arith.trunci %x : {T} to tensor<4xi8>
        %begin = quant.scast %q : tensor<4xi8> to {Q}
        """ + loop({"%a": (Q, "%begin"), "%b": (Q, "%begin")}, f"""%s = qrt.add %a, %b : ({Q}, {Q}) -> {Q}
          %w = arith.constant dense<[[1, 2], [3, -4], [5, 6], [7, 8]]> : tensor<4x2xi8>
          %wq = quant.scast %w : tensor<4x2xi8> to tensor<4x2x!quant.uniform<i8:f32, 0.25>>
          %row = qrt.reshape %a : ({Q}) -> tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>
          %m = qrt.matmul %row, %wq : (tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>,
              tensor<4x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
          %flat = qrt.reshape %m : (tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>)
              -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
          %j = qrt.concat %flat, %flat {{axis = 0}} : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>,
              tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> {Q}""", "%j, %s"), "%r#1, %r#2", f"{Q}, {Q}"),
    "a carried value that is part of another": main(
        f"""%q = arith.trunci %x : {T} to tensor<4xi8>
        %begin = quant.scast %q : tensor<4xi8> to {Q}
        %made = qrt.add %begin, %begin : ({Q}, {Q}) -> {Q}
        """ + loop({"%a": (Q, "%begin"), "%b": (LONG, "%all")}, f"""
          %s = qrt.add %a, %made : ({Q}, {Q}) -> {Q}
          %c = qrt.concat %a, %made, %s {{axis = 0}} : ({Q}, {Q}, {Q}) -> {LONG}
          %d = qrt.add %c, %b : ({LONG}, {LONG}) -> {LONG}
          %p = qrt.slice %d {{offsets = [4], sizes = [4]}} : ({LONG}) -> {Q}""", "%p, %c"),
        "%r#1, %r#2, %made", f"{Q}, {LONG}, {Q}",
    ).replace("%made = ", f"""%all = qrt.concat %begin, %begin, %begin {{axis = 0}} : ({Q}, {Q}, {Q}) -> {LONG}
        %made = """),
    "floats": main(
        """%f = arith.constant dense<[0.5, -1.25, 3.0, 1.0e-3]> : tensor<4xf32>
        """ + loop({"%a": ("tensor<4xf32>", "%f"), "%b": ("tensor<4xf32>", "%f")}, """
          %s = arith.mulf %a, %b : tensor<4xf32>
          %t = arith.addf %s, %f : tensor<4xf32>""", "%b, %t"), "%r#1, %r#2", "tensor<4xf32>, tensor<4xf32>"),
}  # fmt: skip
