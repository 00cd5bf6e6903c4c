"""Programs that passes are compared with mlir-opt on, by name."""

from itertools import product

LAYER = {
    "i8": "!quant.uniform<i8:f32, 0.5:3>",
    "no zero point": "!quant.uniform<i8:f32, 0.5>",
    "u8 bounds": "!quant.uniform<u8<3:200>:f32, 0.1:10>",
    "i8 bounds": "!quant.uniform<i8<-127:127>:f16, 0.5:-128>",
    "u8": "!quant.uniform<u8:f32, 3.14159:200>",
    "i16 f64": "!quant.uniform<i16:f64, 1.0e-3:-300>",
    "i4 bf16": "!quant.uniform<i4:bf16, 0.7:-8>",
    "u32": "!quant.uniform<u32:f32, 1.0e-38:4294967295>",
    "i1": "!quant.uniform<i1:f32, 1.0>",
    "zero point beyond": "!quant.uniform<i8:f32, 0.5:300>",
}
AXIS = {
    "axis": "!quant.uniform<i8:f32:1, {0.5:1, 0.25:2}>",
    "axis, no zero points": "!quant.uniform<i8:f32:1, {0.5, 0.25}>",
    "axis bounds": "!quant.uniform<u8<1:255>:f32:1, {0.5:1, 0.5:1}>",
    "first axis": "!quant.uniform<i8<-100:127>:f32:0, {0.5:1, 0.25:2}>",
    "one channel": "!quant.uniform<i16:f64:0, {0.5:-7}>",
}
BLOCKS = {
    "blocks": "!quant.uniform<i8:f32:{0:2, 1:1}, {{0.5, 0.25}, {1.0:3, 2.0}}>",
    "blocks along one axis": "!quant.uniform<u8<1:200>:f32:{0:2}, {{0.5}, {1.0:3}}>",
}
SHAPES = {
    "scalar": "{}",
    "rank 0": "tensor<{}>",
    "static": "tensor<4x2x{}>",
    "empty": "tensor<0x2x{}>",
    "dynamic": "tensor<?x2x?x{}>",
    "dynamic at the end": "tensor<2x?x{}>",
    "unranked": "tensor<*x{}>",
}
OF_AXIS = {
    "axis": ("static", "dynamic", "empty", "unranked"),
    "axis, no zero points": ("static", "unranked"),
    "axis bounds": ("dynamic", "unranked"),
    "first axis": ("dynamic at the end", "unranked"),
    "one channel": ("unranked",),
}
OF_BLOCKS = {
    "blocks": ("tensor<4x2x{}>", "tensor<?x2x{}>", "tensor<?x?x{}>"),
    "blocks along one axis": ("tensor<4x1x{}>", "tensor<?x?x{}>"),
}


def _cast(op: str, container: str, quantized: str) -> str:
    expressed = quantized.partition(":f")[2].partition(",")[0].partition(":")[0]
    types = [container.format(f"f{expressed}"), container.format(quantized)]
    if "bf16" in quantized:
        types[0] = container.format("bf16")
    source, result = types if op == "qcast" else reversed(types)
    return (
        f"func.func @f(%x: {source}) -> {result} {{ %0 = quant.{op} %x : {source} to {result} return %0 : {result} }}"
    )


def _casts() -> dict[str, str]:
    found = {}
    for (name, quantized), (shape, container) in product(LAYER.items(), SHAPES.items()):
        found[f"{name}, {shape}"] = container, quantized
    for name, shapes in OF_AXIS.items():
        for shape in shapes:
            found[f"{name}, {shape}"] = SHAPES[shape], AXIS[name]
    for name, containers in OF_BLOCKS.items():
        for container in containers:
            found[f"{name}, {container}"] = container, BLOCKS[name]
    return {
        f"{op} {name}": _cast(op, container, quantized)
        for op in ("qcast", "dcast")
        for name, (container, quantized) in found.items()
    }


CASTS = _casts()

_ALIASES = """
!q = !quant.uniform<i8:f32, 0.5:3>
!u = !quant.uniform<u8:f32, 0.5:3>
!a = !quant.uniform<i8:f32:0, {0.5:1, 0.25:2}>
"""
FUNCTIONS = {
    "declaration": "func.func private @f(!q, f32, tensor<?x!u>) -> (!a2, index)".replace("!a2", "tensor<2x!a>"),
    "port attributes": "func.func @f(%x: !q {foo.a = 1 : i32}, %n: i32) -> (!q {foo.b}) { return %x : !q }",
    "calls": """
func.func private @g(%x: !q, %y: tensor<*x!a>) -> (!q, tensor<*x!a>) { return %x, %y : !q, tensor<*x!a> }
func.func @f(%x: !q, %y: tensor<*x!a>) -> (!q, f32) {
  %0:2 = call @g(%x, %y) : (!q, tensor<*x!a>) -> (!q, tensor<*x!a>)
  %1 = quant.dcast %0#0 : !q to f32
  %2 = quant.dcast %0#1 : tensor<*x!a> to tensor<*xf32>
  return %0#0, %1 : !q, f32
}""",
    "calls of several blocks": """
func.func private @g(%c: i1, %x: i32, %m: memref<i32>) -> i32 {
  memref.store %x, %m[] : memref<i32>
  cf.cond_br %c, ^a(%x : i32), ^b
^a(%y: i32):
  return %y : i32
^b:
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
func.func private @endless() { cf.br ^a ^a: cf.br ^a }
func.func @in_one_block(%c: i1, %x: i32, %m: memref<i32>) -> i32 {
  %0 = scf.if %c -> i32 {
    %1 = func.call @g(%c, %x, %m) : (i1, i32, memref<i32>) -> i32
    scf.yield %1 : i32
  } else {
    scf.yield %x : i32
  }
  return %0 : i32
}
func.func @between_blocks(%c: i1, %d: i1, %x: i32, %m: memref<i32>) -> i32 {
  cf.cond_br %d, ^a, ^b
^a:
  %0 = call @g(%c, %x, %m) : (i1, i32, memref<i32>) -> i32
  %1 = call @g(%d, %0, %m) : (i1, i32, memref<i32>) -> i32
  return %1 : i32
^b:
  %2 = call @in_one_block(%d, %x, %m) : (i1, i32, memref<i32>) -> i32
  return %2 : i32
}
func.func @never_ends(%x: i32, %m: memref<i32>) {
  call @endless() : () -> ()
  memref.store %x, %m[] : memref<i32>
  return
}""",
    "uses beside a return": """
func.func @f(%x: !q, %z: !q, %y: f32) -> (f32, f32, !q, !q) {
  %0 = quant.dcast %z : !q to f32
  %1 = quant.dcast %x : !q to f32
  %2 = quant.qcast %y : f32 to !q
  return %0, %1, %x, %2 : f32, f32, !q, !q
}""",
    "unused": "func.func @f(%x: !q, %y: tensor<2x!a>) { return }",
    "one value returned twice": """
func.func @f(%x: f32) -> (!q, i8, !q) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.scast %0 : !q to i8
  return %0, %1, %0 : !q, i8, !q
}""",
    "storage casts": """
func.func @f(%x: !q) -> (!q, !u) {
  %0 = quant.scast %x : !q to i8
  %1 = quant.scast %0 : i8 to !q
  %2 = quant.scast %0 : i8 to !u
  return %1, %2 : !q, !u
}""",
    "inverse casts": """
func.func @f(%x: !q, %y: f32) -> (!q, f32, !q) {
  %0 = quant.dcast %x : !q to f32
  %1 = quant.qcast %0 : f32 to !q
  %2 = quant.qcast %y : f32 to !q
  %3 = quant.dcast %2 : !q to f32
  %4 = quant.qcast %3 : f32 to !q
  return %1, %3, %4 : !q, f32, !q
}""",
    "other parameters": """
func.func @f(%x: !q) -> !u {
  %0 = quant.dcast %x : !q to f32
  %1 = quant.qcast %0 : f32 to !u
  return %1 : !u
}""",
    "equal casts": """
func.func @f(%x: tensor<2xf32>) -> (tensor<2x!a>, tensor<2x!a>, tensor<2x!q>) {
  %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!a>
  %1 = quant.qcast %x : tensor<2xf32> to tensor<2x!a>
  %2 = quant.qcast %x : tensor<2xf32> to tensor<2x!q>
  return %0, %1, %2 : tensor<2x!a>, tensor<2x!a>, tensor<2x!q>
}""",
    "dead": """
func.func @f(%x: f32) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %0 : !q to f32
  "foo.effect"(%x) : (f32) -> ()
  return
}""",
    "constants": """
func.func @f() -> (f32, f32, i8, !q) {
  %0 = arith.constant 2.0 : f32
  %1 = quant.qcast %0 : f32 to !q
  %2 = arith.constant 2.0 : f32
  %3 = arith.constant 7 : i8
  return %0, %2, %3, %1 : f32, f32, i8, !q
}""",
    "commutative": """
func.func @f(%x: f32) -> (f32, f32, f32) {
  %0 = arith.addf %x, %x : f32
  %1 = arith.constant 2.0 : f32
  %2 = arith.mulf %1, %0 : f32
  %3 = arith.mulf %0, %1 : f32
  %4 = arith.subf %1, %0 : f32
  return %2, %3, %4 : f32, f32, f32
}""",
    "region of an unknown op": """
func.func @f(%x: !q) -> f32 {
  "foo.region"() ({
    %0 = quant.scast %x : !q to i8
    "foo.use"(%x, %0) : (!q, i8) -> ()
  }) : () -> ()
  %1 = quant.dcast %x : !q to f32
  return %1 : f32
}""",
    "private functions": """
func.func private @one(%x: f32) -> !q {
  %0 = quant.qcast %x : f32 to !q
  return %0 : !q
}
func.func private @two(%x: f32) -> (!q, f32) {
  %0 = call @one(%x) : (f32) -> !q
  %1 = arith.constant 2.0 : f32
  %2 = arith.mulf %x, %1 : f32
  return %0, %2 : !q, f32
}
func.func private @named() { return }
func.func private @unused() { return }
func.func private @only_unused() { call @unused() : () -> ()  return }
func.func @f(%x: f32) -> (!q, f32) {
  %0:2 = call @two(%x) : (f32) -> (!q, f32)
  "foo.name"() {names = [{a = @named}]} : () -> ()
  return %0#0, %0#1 : !q, f32
}""",
    "recursion": """
func.func private @self(%x: f32) -> f32 { %0 = call @self(%x) : (f32) -> f32  return %0 : f32 }
func.func private @ping(%x: f32) -> f32 { %0 = call @pong(%x) : (f32) -> f32  return %0 : f32 }
func.func private @pong(%x: f32) -> f32 { %0 = call @ping(%x) : (f32) -> f32  return %0 : f32 }
func.func private @unknown(%x: f32) -> f32 { %0 = "foo.x"(%x) : (f32) -> f32  return %0 : f32 }
func.func @f(%x: f32) -> (f32, f32, f32) {
  %0 = call @self(%x) : (f32) -> f32
  %1 = call @ping(%x) : (f32) -> f32
  %2 = call @unknown(%x) : (f32) -> f32
  return %0, %1, %2 : f32, f32, f32
}""",
    "sub-channel types": """
!one = !quant.uniform<u8:f32:{0:2, 1:3}, {{0.5:3}}>
!none = !quant.uniform<u8:f32:{}, {{0.5}}>
!first = !quant.uniform<u8:f32:{0:1, 1:3}, {{0.5}, {1.0:3}}>
!second = !quant.uniform<u8<1:100>:f32:{1:1}, {{0.5, 1.0:3, 2.0}}>
!both = !quant.uniform<u8:f32:{0:1, 1:1}, {{0.5, 1.0, 2.0}, {4.0, 8.0, 16.0:2}}>
func.func private @g(tensor<1x1x!none>) -> tensor<2x3x!one>
func.func @f(%a: tensor<2x3x!one>, %b: tensor<1x1x!none>, %c: tensor<2x3x!first>, %d: tensor<1x3x!second>,
             %e: tensor<2x3x!both>) -> (tensor<2x3xf32>, tensor<1x3xi8>) attributes {t = tensor<2x3x!one>} {
  %0 = quant.dcast %c {note = !first} : tensor<2x3x!first> to tensor<2x3xf32>
  %1 = quant.scast %d : tensor<1x3x!second> to tensor<1x3xi8>
  %2 = call @g(%b) : (tensor<1x1x!none>) -> tensor<2x3x!one>
  "foo.use"(%2, %e) : (tensor<2x3x!one>, tensor<2x3x!both>) -> ()
  return %0, %1 : tensor<2x3xf32>, tensor<1x3xi8>
}""",
    "per-axis types stay": "func.func @f(%x: tensor<1x!one>) { return }".replace(
        "!one", "!quant.uniform<i8:f32:0, {0.5}>"
    ),
}
FUNCTIONS = {name: _ALIASES + text for name, text in FUNCTIONS.items()}
