"""Programs that several tests share: each says what is hard about it."""

CAST = """\
func.func @f(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}
"""

PROGRAMS = {
    "empty": "",
    "cast": CAST,
    "comments": "// one\nfunc.func private @f() // two\n// three",
    "nested modules": "module @a attributes {x.y = 1} { module @b { } module { func.func private @f() } }",
    "declarations": 'func.func private @f(i32 {q.name = "a"}, f32) -> (i32 {q.name = "b"}, f32) attributes {x.z}',
    "a lone function result": "func.func private @f() -> (() -> i32)",
    "quoted symbols": 'func.func @"a b"() { call @"a b"() : () -> () return }',
    "calls": """\
func.func private @g(i32, f32) -> (f32, i32)
func.func @f(%x: i32, %y: f32) -> f32 {
  %r:2 = func.call @g(%x, %y) {a} : (i32, f32) -> (f32, i32)
  %s, %t = call @g(%r#1, %r) : (i32, f32) -> (f32, i32)
  return %s : f32
}""",
    "constants": """\
func.func @f() {
  %0 = arith.constant 5 : i32
  %1 = arith.constant dense<[[1, -2], [3, 255]]> : tensor<2x2xi8>
  %2 = arith.constant {a = 1} 2.5 : bf16
  %3 = arith.constant true
  %4 = arith.constant dense<0x7FC00000> : tensor<1000000000000xf32>
  %5 = arith.constant dense<"0x00010203"> : tensor<4xi8>
  %6 = arith.constant dense_resource<weights> : tensor<2xi8>
  return
}
{-# dialect_resources: { builtin: { weights: "0x010000000102" } } #-}""",
    "aliases used first": """\
func.func @f(%x: !x) -> !x attributes {a.b = #b} { return %x : !x }
!x = tensor<2x!q>
#b = [#c, 2]
!q = !quant.uniform<i8:f32:0, {0.5, 1.0:-3}>
#c = 1 : i8
""",
    "locations": """\
#l = loc("a.mlir":1:2)
func.func @f(%x: f32 loc("x")) {
  return loc(callsite("f"("g") at #l))
} loc(fused<"m">["a", #l, unknown])
""",
    "kernels": """\
!t = tensor<4x4x!quant.uniform<i8:f32, 0.5:3>>
func.func @f(%x: !t, %w: !t) -> !t {
  %0 = qrt.matmul %x, %w : (!t, !t) -> !t
  %1 = qrt.add %0, %x {requant = "fixed"} : (!t, !t) -> !t
  %2 = qrt.clamp %1 {min = 0.0 : f64, max = 6.0 : f64} : (!t) -> !t
  %3 = qrt.transpose %2 {permutation = [1, 0]} : (!t) -> !t
  %4 = qrt.reshape %3 : (!t) -> !t
  %5 = qrt.concat %4, %4, %4 {axis = 0 : i64} : (!t, !t, !t) -> tensor<12x4x!quant.uniform<i8:f32, 0.5:3>>
  return %4 : !t
}""",
    "cast attributes": """\
func.func @f(%x: tensor<?xf32>) {
  %0 = quant.qcast %x {rounding = "half_away", zero_point = "after", scale = "reciprocal"} : tensor<?xf32>
    to tensor<?x!quant.uniform<u8<1:254>:f32, 0.5>>
  %1 = quant.scast %0 : tensor<?x!quant.uniform<u8<1:254>:f32, 0.5>> to tensor<?xi8>
  return
}""",
}

UNREGISTERED = {
    "properties, attributes and regions": """\
%0:2 = "a.b"() <{p = 1, q}> ({
^bb0(%x: i32, %y: !a.t<"x>", 3>):
  "a.c"(%x, %y)[^bb1, ^bb2] : (i32, !a.t<"x>", 3>) -> ()
^bb1:
  "a.d"() : () -> ()
^bb2(%z: i32):
  "a.d"(%z) : (i32) -> ()
}, {
}) {r = #a.attr<1, [2]>, s = affine_map<(d0) -> (d0 + 1)>} : () -> (i32, f32)
"a.e"(%0#1, %0) : (f32, i32) -> ()""",
    "values used before they are defined": """\
"a.b"(%1, %0#1) : (i32, f32) -> ()
%0:2 = "a.c"() : () -> (i32, f32)
%1 = "a.d"() : () -> i32""",
    "values of the outside": """\
%0 = "a.a"() : () -> i32
"a.b"() ({
  %1 = "a.c"(%0) : (i32) -> i32
  "a.b"() ({ "a.d"(%1, %0) : (i32, i32) -> () }) : () -> ()
}) : () -> ()
"a.b"() ({ %1 = "a.c"(%0) : (i32) -> i32 }) : () -> ()""",
    "attributes of every kind": """\
"a.b"() {
  a = 1, b = -5 : i8, c = 255 : i8, d = 18446744073709551615 : ui64, e = true, f = unit, g, h = "x\\22\\00\\FF",
  i = [1, 2.0, [true]], j = {k = 1 : index, "l m" = i32}, n = () -> (), o = @f::@"g h", p = array<i64: 1, -2>,
  q = array<f32: 1.0, 0x7FC00000>, r = array<i1: true, false>, s = 0x7FF0000000000000 : f64, t = 0.1 : f128,
  u = dense<[1.0, 0.1]> : tensor<2xf8E4M3FN>, v = dense<[true, false]> : tensor<2xi1>, w = dense<> : tensor<0x3xi4>,
  x = dense<"0x0F01"> : tensor<2xi4>, y = dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>,
  z = loc("f":1:2 to 3:4)
} : () -> ()""",
    "a tensor encoding and a layout": """\
"a.b"() {t = tensor<4xf32, "sparse">, m = memref<4x?xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>} : () -> ()""",
}
