// expected-error@+1:72 {{use of value '%b' expects different type than prior uses: 'index' vs 'i32'}}
func.func @f(%a: index, %b: i32, %x: f32) { scf.for %i = %a to %a step %b { } return }
// -----
// expected-error@+1:45 {{'scf.for' op failed to verify that all of {lowerBound, upperBound, step} have same type}}
func.func @f(%a: index, %b: i32, %x: f32) { "scf.for"(%a, %b, %a) ({^bb0(%i: index): scf.yield}) : (index, i32, index) -> () return }
// -----
// expected-error@+1:45 {{'scf.for' op operand #0 must be signless integer or index, but got 'f32'}}
func.func @f(%a: index, %b: i32, %x: f32) { "scf.for"(%x, %x, %x) ({^bb0(%i: f32): scf.yield}) : (f32, f32, f32) -> () return }
// -----
// expected-error@+1:45 {{'scf.for' op expected induction variable to be same type as bounds and step}}
func.func @f(%a: index, %b: i32, %x: f32) { "scf.for"(%a, %a, %a) ({^bb0(%i: i32): scf.yield}) : (index, index, index) -> () return }
// -----
// expected-error@+1:50 {{'scf.for' op 0-th region iter_arg and 0-th yielded value have different type: 'f32' != 'i32'}}
func.func @f(%a: index, %b: i32, %x: f32) { %r = scf.for %i = %a to %a step %a iter_args(%u = %x) -> (f32) { scf.yield %b : i32 } return }
// -----
// expected-error@+1:50 {{'scf.for' op along control flow edge from Operation scf.yield to Region #0: region branch point has 0 operands, but region successor needs 1 inputs}}
func.func @f(%a: index, %b: i32, %x: f32) { %r = scf.for %i = %a to %a step %a iter_args(%u = %x) -> (f32) { } return }
// -----
// expected-error@+1:50 {{'scf.for' op different number of region iter_args and yielded values: 1 != 2}}
func.func @f(%a: index, %b: i32, %x: f32) { %r = scf.for %i = %a to %a step %a iter_args(%u = %x) -> (f32) { scf.yield %x, %b : f32, i32 } return }
// -----
// expected-error@+1:52 {{mismatch in number of loop-carried values and defined values}}
func.func @f(%a: index, %b: i32, %x: f32) { %r:2 = scf.for %i = %a to %a step %a iter_args(%u = %x) -> (f32, f32) { scf.yield %x, %x : f32, f32 } return }
// -----
// expected-error@+1:50 {{'scf.for' op different number of inits and region iter_args: 1 != 0}}
func.func @f(%a: index, %b: i32, %x: f32) { %r = "scf.for"(%a, %a, %a, %x) ({^bb0(%i: index): scf.yield}) : (index, index, index, f32) -> f32 return }
// -----
// expected-error@+1:50 {{'scf.for' op mismatch in number of loop-carried values and defined values}}
func.func @f(%a: index, %b: i32, %x: f32) { %r = "scf.for"(%a, %a, %a) ({^bb0(%i: index): scf.yield}) : (index, index, index) -> f32 return }
// -----
// expected-error@+1:45 {{'scf.for' op expects regions to end with 'scf.yield', found 'func.return'}}
func.func @f(%a: index, %b: i32, %x: f32) { "scf.for"(%a, %a, %a) ({^bb0(%i: index): "func.return"() : () -> () }) : (index, index, index) -> () return }
// -----
// expected-error@+1:47 {{'scf.if' op must have an else block if defining values}}
func.func @f(%a: i1, %b: i32, %x: f32) { %r = scf.if %a -> f32 { scf.yield %x : f32 } return }
// -----
// expected-error@+1:47 {{'scf.if' op along control flow edge from Operation scf.yield to parent: successor operand type #0 'i32' should match successor input type #0 'f32'}}
func.func @f(%a: i1, %b: i32, %x: f32) { %r = scf.if %a -> f32 { scf.yield %x : f32 } else { scf.yield %b : i32 } return }
// -----
// expected-error@+1:49 {{use of value '%b' expects different type than prior uses: 'i1' vs 'i32'}}
func.func @f(%a: i1, %b: i32, %x: f32) { scf.if %b { } return }
// -----
// expected-error@+1:47 {{'scf.while' op along control flow edge from Operation scf.condition to parent: successor operand type #0 'f32' should match successor input type #0 'i32'}}
func.func @f(%a: i1, %b: i32, %x: f32) { %r = scf.while (%u = %x) : (f32) -> i32 { scf.condition(%a) %u : f32 } do { ^bb0(%v: i32): scf.yield %x : f32 } return }
// -----
// expected-error@+1:47 {{'scf.while' op along control flow edge from Operation scf.yield to Region #0: successor operand type #0 'i32' should match successor input type #0 'f32'}}
func.func @f(%a: i1, %b: i32, %x: f32) { %r = scf.while (%u = %x) : (f32) -> f32 { scf.condition(%a) %u : f32 } do { ^bb0(%v: f32): scf.yield %b : i32 } return }
// -----
// expected-error@+1:47 {{'scf.while' op along control flow edge from Operation scf.condition to Region #1: successor operand type #0 'f32' should match successor input type #0 'i32'}}
func.func @f(%a: i1, %b: i32, %x: f32) { %r = scf.while (%u = %x) : (f32) -> f32 { scf.condition(%a) %u : f32 } do { ^bb0(%v: i32): scf.yield %x : f32 } return }
// -----
// expected-error@+1:42 {{'scf.while' op expects the 'before' region to terminate with 'scf.condition'}}
func.func @f(%a: i1, %b: i32, %x: f32) { scf.while : () -> () { scf.yield } do { scf.yield } return }
// -----
// expected-error@+1:42 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
func.func @f(%a: i1, %b: i32, %x: f32) { scf.yield return }
// -----
// expected-error@+1:42 {{'scf.condition' op expects parent op 'scf.while'}}
func.func @f(%a: i1, %b: i32, %x: f32) { scf.condition(%a) }
// -----
// expected-error@+1:36 {{expected 2 operands}}
func.func @f(%a: index, %x: f32) { scf.parallel (%i, %j) = (%a) to (%a) step (%a) { } return }
// -----
// expected-error@+1:36 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
func.func @f(%a: index, %x: f32) { scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 { scf.reduce } return }
// -----
// expected-error@+1:41 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
func.func @f(%a: index, %x: f32) { %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 { scf.reduce } return }
// -----
// expected-error@+1:67 {{'scf.parallel' op constant step operand must be positive}}
func.func @f(%a: index, %x: f32) { %c0 = arith.constant 0 : index scf.parallel (%i) = (%a) to (%a) step (%c0) { scf.reduce } return }
// -----
// expected-error@+1:103 {{'scf.reduce' op expected two block arguments with type 'f32' in the 0-th reduction region}}
func.func @f(%a: index, %x: f32) { %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 { scf.reduce(%x : f32) { ^bb0(%l : f32, %m : index): scf.reduce.return %l : f32 } } return }
// -----
// expected-error@+1:152 {{'scf.reduce.return' op must have type 'f32' (the type of the reduction inputs)}}
func.func @f(%a: index, %x: f32) { %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 { scf.reduce(%x : f32) { ^bb0(%l : f32, %m : f32): scf.reduce.return %a : index } } return }
// -----
// expected-error@+1:103 {{'scf.reduce' op expects type of 0-th reduction operand: 'index' to be the same as the 0-th result type: 'f32'}}
func.func @f(%a: index, %x: f32) { %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%x) -> f32 { scf.reduce(%a : index) { ^bb0(%l : index, %m : index): scf.reduce.return %a : index } } return }
// -----
// expected-error@+1:36 {{'scf.index_switch' op has duplicate case value: 1}}
func.func @f(%a: index, %x: f32) { scf.index_switch %a case 1 { scf.yield } case 1 { scf.yield } default { scf.yield } return }
// -----
// expected-error@+1:41 {{'scf.index_switch' op expected each region to return 1 values, but case region #0 returns 0}}
func.func @f(%a: index, %x: f32) { %r = scf.index_switch %a -> f32 case 1 { scf.yield } default { scf.yield %x : f32 } return }
// -----
// expected-error@+1:36 {{'scf.execute_region' op region needs to have at least one block}}
func.func @f(%a: index, %x: f32) { scf.execute_region { } return }
// -----
// expected-error@+1:41 {{'scf.execute_region' op along control flow edge from Operation scf.yield to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
func.func @f(%a: index, %x: f32) { %r = scf.execute_region -> f32 { scf.yield } return }
// -----
// expected-error@+1:36 {{'scf.execute_region' op region cannot have any arguments}}
func.func @f(%a: index, %x: f32) { "scf.execute_region"() ({ ^bb0(%i: index): scf.yield }) : () -> () return }
// -----
// expected-error@+1:46 {{expected 2 upper bound values, got 1}}
func.func @f(%a: index, %t: tensor<4xf32>) { scf.forall (%i, %j) in (%a) { } return }
// -----
// expected-error@+1:46 {{'scf.forall' op mapping attribute size must match op rank}}
func.func @f(%a: index, %t: tensor<4xf32>) { scf.forall (%i) in (%a) { } {mapping = [#gpu.block<x>, #gpu.block<y>]} return }
// -----
// expected-error@+1:36 {{'scf.parallel' op needs at least one tuple element for lowerBound, upperBound and step}}
func.func @f(%a: index, %x: i32) { scf.parallel () = () to () step () { } return }
