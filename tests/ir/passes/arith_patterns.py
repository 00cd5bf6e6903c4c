"""Single functions that upstream's patterns change, in the notation of `arith_folds`."""

from tests.ir.passes.arith_folds import program

_SUMS = {
    f"{outer} of {inner}": ("i32, i32", "i32", f"%0 = arith.{inner} : i32 ; arith.{outer} : i32")
    for inner in ("addi %a, {3 : i32}", "subi %a, {3 : i32}", "subi {3 : i32}, %a")
    for outer in ("addi %0, {10 : i32}", "subi %0, {10 : i32}", "subi {10 : i32}, %0")
}


def _promising(body, flag):
    """A sum of sums on i8, with constants near the bounds, each saying the flag."""
    first, second = body.replace("i32", "i8").replace("{3 ", "{100 ").replace("{10 ", "{-50 ").split(" ; ")
    return " ; ".join(f"{line.removesuffix(' : i8')} overflow<{flag}> : i8" for line in (first, second))


_TRUNCI = "arith.trunci %0 overflow<nsw> : i32 to i8"
OURS = {
    **{
        f"{name}, {flag}": ("i8, i8", "i8", _promising(body, flag))
        for name, (_, _, body) in _SUMS.items()
        for flag in ("nsw", "nuw")
    },
    "trunci of trunci, nsw": ("i64", "i8", f"%0 = arith.trunci %a : i64 to i32 ; {_TRUNCI}"),
    **{
        f"{name} through {between} and back": (
            type,
            type,
            f"%0 = arith.{name} %a : {type} to {between} ; arith.{name} %0 : {between} to {type}",
        )
        for name in ("index_cast", "index_castui")
        for type, between in (("index", "i1"), ("index", "i8"), ("index", "i32"), ("vector<2xindex>", "vector<2xi63>"))
    },
    "trunci of shrsi, nsw": ("i32", "i8", f"%0 = arith.shrsi %a, {{24 : i32}} : i32 ; {_TRUNCI}"),
}
"""Where upstream keeps a promise that the result might break, or drops a cast that changes the value."""
CASES = {
    **_SUMS,
    "flags merge": (
        "i32",
        "i32",
        "%0 = arith.addi %a, {3 : i32} overflow<nsw, nuw> : i32 ; arith.addi %0, {4 : i32} overflow<nsw> : i32",
    ),
    "sums wrap": ("i8", "i8", "%0 = arith.addi %a, {100 : i8} : i8 ; arith.addi %0, {100 : i8} : i8"),
    "sums of index": ("index", "index", "%0 = arith.addi %a, {1 : index} : index ; arith.addi %0, {2 : index} : index"),
    "x + y * -1": ("i32, i32", "i32", "%0 = arith.muli %b, {-1 : i32} : i32 ; arith.addi %a, %0 : i32"),
    "y * -1 + x": ("i32, i32", "i32", "%0 = arith.muli %b, {-1 : i32} : i32 ; arith.addi %0, %a : i32"),
    "(x - y) - x": ("i32, i32", "i32", "%0 = arith.subi %a, %b : i32 ; arith.subi %0, %a : i32"),
    "products": ("i32", "i32", "%0 = arith.muli %a, {3 : i32} : i32 ; arith.muli %0, {5 : i32} : i32"),
    "only the sum": ("i32, i32", "i32", "%r, %o = arith.addui_extended %a, %b : i32, i1"),
    "only the low half": ("i32, i32", "i32", "%r, %o = arith.mulsi_extended %a, %b : i32"),
    "only the high half": ("i32, i32", "i32", "%l, %r = arith.mului_extended %a, %b : i32"),
    "high half of x * 1": ("i32", "i32", "%l, %r = arith.mulsi_extended %a, {1 : i32} : i32"),
    "extui of extui": ("i8", "i64", "%0 = arith.extui %a : i8 to i32 ; arith.extui %0 : i32 to i64"),
    "extsi of extsi": ("i8", "i64", "%0 = arith.extsi %a : i8 to i32 ; arith.extsi %0 : i32 to i64"),
    "extsi of extui": ("i8", "i64", "%0 = arith.extui %a : i8 to i32 ; arith.extsi %0 : i32 to i64"),
    "extui of extsi": ("i8", "i64", "%0 = arith.extsi %a : i8 to i32 ; arith.extui %0 : i32 to i64"),
    "trunci of trunci": ("i64", "i8", "%0 = arith.trunci %a : i64 to i32 ; arith.trunci %0 : i32 to i8"),
    "trunci of extsi, narrower": ("i16", "i8", "%0 = arith.extsi %a : i16 to i32 ; arith.trunci %0 : i32 to i8"),
    "trunci of extsi, wider": ("i8", "i16", "%0 = arith.extsi %a : i8 to i32 ; arith.trunci %0 : i32 to i16"),
    "trunci of extui, wider": ("i8", "i16", "%0 = arith.extui %a : i8 to i32 ; arith.trunci %0 : i32 to i16"),
    "trunci of shrsi": ("i32", "i8", "%0 = arith.shrsi %a, {24 : i32} : i32 ; arith.trunci %0 : i32 to i8"),
    "trunci of shrsi by less": ("i32", "i8", "%0 = arith.shrsi %a, {23 : i32} : i32 ; arith.trunci %0 : i32 to i8"),
    "truncf of extf": ("f32", "f16", "%0 = arith.extf %a : f32 to f64 ; arith.truncf %0 : f64 to f16"),
    "bitcast of bitcast": ("i32", "i32", "%0 = arith.bitcast %a : i32 to f32 ; arith.bitcast %0 : f32 to i32"),
    "cast and back": ("i32", "i32", "%0 = arith.index_cast %a : i32 to index ; arith.index_cast %0 : index to i32"),
    "bitcast to itself": ("i32", "i32", "arith.bitcast %a : i32 to i32"),
    "index_cast of extsi": ("i8", "index", "%0 = arith.extsi %a : i8 to i32 ; arith.index_cast %0 : i32 to index"),
    "index_castui of extui": ("i8", "index", "%0 = arith.extui %a : i8 to i32 ; arith.index_castui %0 : i32 to index"),
    "constant < x": ("i32", "i1", "arith.cmpi slt, {3 : i32}, %a : i32"),
    "constant unsigned >= x": ("i32", "i1", "arith.cmpi uge, {3 : i32}, %a : i32"),
    "ext = ext": (
        "i8, i8",
        "i1",
        "%0 = arith.extsi %a : i8 to i32 ; %1 = arith.extsi %b : i8 to i32 ; arith.cmpi eq, %0, %1 : i32",
    ),
    "ext < ext": (
        "i8, i8",
        "i1",
        "%0 = arith.extsi %a : i8 to i32 ; %1 = arith.extsi %b : i8 to i32 ; arith.cmpi slt, %0, %1 : i32",
    ),
    "not(a < b)": ("i32, i32", "i1", "%0 = arith.cmpi slt, %a, %b : i32 ; arith.xori %0, {true} : i1"),
    "ext & ext": (
        "i8, i8",
        "i32",
        "%0 = arith.extui %a : i8 to i32 ; %1 = arith.extui %b : i8 to i32 ; arith.andi %0, %1 : i32",
    ),
    "select by not": ("i1, i32", "i32", "%0 = arith.xori %a, {true} : i1 ; arith.select %0, %b, {7 : i32} : i32"),
    "select in select": (
        "i1, i32",
        "i32",
        "%0 = arith.select %a, %b, {7 : i32} : i32 ; arith.select %a, %0, {9 : i32} : i32",
    ),
    "select false true": ("i1", "i1", "arith.select %a, {false}, {true} : i1"),
    "select 1 0": ("i1", "i32", "arith.select %a, {1 : i32}, {0 : i32} : i32"),
    "select 0 1": ("i1", "i32", "arith.select %a, {0 : i32}, {1 : i32} : i32"),
    "-a * -b": ("f32, f32", "f32", "%0 = arith.negf %a : f32 ; %1 = arith.negf %b : f32 ; arith.mulf %0, %1 : f32"),
    "-a / -b": ("f32, f32", "f32", "%0 = arith.negf %a : f32 ; %1 = arith.negf %b : f32 ; arith.divf %0, %1 : f32"),
}
PROGRAMS = {name: program(*case) for name, case in CASES.items()}
