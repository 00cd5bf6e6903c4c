func.func @f() -> vector<4611686018427387904xindex> { %0 = vector.step : vector<4611686018427387904xindex>
  return %0 : vector<4611686018427387904xindex> }
