"""Element-wise programs whose types leave shapes open: sizes of any dimension, or the rank too."""

from random import Random

_BINARY = {
    **dict.fromkeys(("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui", "divsi", "remui", "shli"), "i"),
    **dict.fromkeys(("addf", "subf", "mulf", "divf", "maximumf", "minnumf"), "f"),
}
_UNARY = ("math.absf", "math.sqrt", "math.tanh", "math.floor", "arith.negf")
_DIMENSIONS = ("?x", "?x", "?x", "*x", "?x?x", "?x3x", "1x?x", "")


def element_wise(draw: Random) -> str:
    """A chain of ops on tensors of one type, in which one flag or a tensor of flags selects, and their flags, wider and
    other numbers."""
    dims, element = draw.choice(_DIMENSIONS), draw.choice(("f32", "f32", "i32", "i8", "i64", "f64", "index", "i1"))
    t, flags = f"tensor<{dims}{element}>", f"tensor<{dims}i1>"
    is_float = element[0] == "f"
    values, masks, lines = ["%a", "%b", "%c"], ["%m"], []
    for number in range(draw.choice((1, 1, 2, 4, 8))):
        name, x, y = f"%{number}", draw.choice(values), draw.choice(values)
        kind = draw.randrange(6)
        if kind < 2:
            condition, spelled = draw.choice([("%p", t), (draw.choice(masks), f"{flags}, {t}")])
            lines.append(f"{name} = arith.select {condition}, {x}, {y} : {spelled}")
            values.append(name)
        elif kind == 2:
            op = draw.choice(("cmpf olt", "cmpf une") if is_float else ("cmpi slt", "cmpi uge"))
            lines.append(f"{name} = arith.{op}, {x}, {y} : {t}")
            masks.append(name)
        elif kind == 3 and element == "f32":
            lines.append(f"{name} = {draw.choice(_UNARY)} {x} : {t}")
            values.append(name)
        else:
            op = draw.choice([op for op, numbers in _BINARY.items() if numbers == ("f" if is_float else "i")])
            lines.append(f"{name} = arith.{op} {x}, {y} : {t}")
            values.append(name)
    given = f"%a: {t}, %b: {t}, %c: {t}, %m: {flags}, %p: i1"
    lines.append(f"return {values[-1]}, {masks[-1]} : {t}, {flags}")
    body = "\n  ".join(lines)
    return f"func.func @f({given}) -> ({t}, {flags}) {{\n  {body}\n}}"
