// pipeline: canonicalize
%0 = "a.b"() ({
^bb0(%x: i32):
  "a.d"(%z) : (i32) -> ()
^bb1:
  "a.d"() : () -> ()
^bb2(%z: i32):
  "a.d"() : () -> ()
}) : () -> i32
