"""The sizes of functions of lines and of sequences: softmax by each rule, interpolated lookups, recurrent networks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qrt import numerics
from tests.kernels.draws import DTYPES, Array
from tests.kernels.size_cases import BYTES, Case, combinations, draw

SIDES = (0, 1, 2, 3, 4, 5, 15, 16, 17)
SCALE, BETA = 0.05, 1.0


def softmax() -> Iterator[Case]:
    rng = np.random.default_rng(13)
    for drawn in combinations(rng, 5, a=SIDES, b=SIDES, c=SIDES[:6], rank=(1, 2, 3), axis=(0, 1, 2), storage=BYTES,
                              out=("i8", "u8", "i16"), rule=tuple(_RULES)):  # fmt: skip
        shape = (drawn["a"], drawn["b"], drawn["c"])[: drawn["rank"]]
        axis, out, storage = drawn["axis"] % len(shape), drawn["out"], drawn["storage"]
        name, rule = drawn["rule"].split()
        if rule == "table_int16":
            storage = out = "i16"
        elif name == "log_softmax" and out == "i16":
            out = "i8"
        info, x = np.iinfo(DTYPES[out]), draw(rng, storage, shape)
        given, expected = _RULES[drawn["rule"]]
        given = given | {
            "name": name,
            "rule": rule,
            "storage": storage,
            "x_shape": shape,
            "axis": axis,
            "out": out,
            "storage_min": int(info.min),
            "storage_max": int(info.max),
            "zero_point": 3,
            "scale": 2.0**-8,
        }
        yield Case("softmax", given, (x,), lambda x=x, axis=axis, i=info, e=expected: e(x, axis, i))


_P = numerics.log_softmax_parameters(SCALE)
_RULES: dict[str, tuple[dict[str, Any], Callable[[Array, int, Any], Array]]] = {
    "softmax table_int32": (
        {"table": numerics.softmax_table(SCALE, BETA)},
        lambda x, axis, i: numerics.softmax(
            x, axis, numerics.softmax_table(SCALE, BETA), 2.0**-8, 3, int(i.min), int(i.max)
        ),
    ),
    "softmax table_float32": (
        {"table": numerics.softmax_table_float32(SCALE, BETA)},
        lambda x, axis, i: numerics.softmax_float32(
            x, axis, numerics.softmax_table_float32(SCALE, BETA), 2.0**-8, 3, int(i.min), int(i.max)
        ),
    ),
    "softmax gemmlowp": (
        {"table": numerics.softmax_table_gemmlowp(SCALE, BETA)},
        lambda x, axis, i: numerics.softmax_gemmlowp(
            x, axis, numerics.softmax_table_gemmlowp(SCALE, BETA), i.bits, int(i.min)
        ),
    ),
    "softmax table_int16": (
        {"table": numerics.softmax_tables_int16(), "multiplier": 1 << 30, "shift": 1},
        lambda x, axis, i: numerics.softmax_int16(x, axis, 1 << 30, 1, *numerics.softmax_tables_int16()),
    ),
    "log_softmax table_float32": (
        {"table": numerics.softmax_table_float32(SCALE, BETA), "input_scale": np.float32(SCALE)},
        lambda x, axis, i: numerics.log_softmax_float32(x, axis, SCALE, 2.0**-8, 3, int(i.min), int(i.max)),
    ),
    "log_softmax gemmlowp": (
        {"table": _P.table, "scaled": _P.scaled, "multiplier": _P.multiplier, "shift": _P.shift, "radius": _P.radius},
        lambda x, axis, i: numerics.log_softmax_gemmlowp(x, axis, _P, 3, int(i.min), int(i.max)),
    ),
}


def lookup_interpolated() -> Iterator[Case]:
    """Tables that are constants, and operands."""
    rng = np.random.default_rng(21)
    for drawn in combinations(rng, 4, size=(*SIDES, 1000), fraction=(0, 1, 7, 15), constant=(False, True)):
        fraction, x = drawn["fraction"], draw(rng, "i16", drawn["size"])
        table = draw(rng, "i16", (1 << (16 - fraction)) + 1)
        given = {"size": drawn["size"], "fraction": fraction} | ({"table": table} if drawn["constant"] else {})
        operands = (x,) if drawn["constant"] else (x, table)
        yield Case("lookup_interpolated", given, operands, lambda x=x, t=table, n=fraction:
                   numerics.lookup_interpolated(x, t, n).astype(np.int16))  # fmt: skip


def _multiplier(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(1 << 30, 1 << 31)), int(rng.integers(-12, 2))


def _lstm_gate(rng: np.random.Generator, has_peephole: bool, has_norm: bool) -> numerics.LstmGate:
    of_cell, of_norm = (_multiplier(rng) if is_there else None for is_there in (has_peephole, has_norm))
    return numerics.LstmGate(_multiplier(rng), _multiplier(rng), of_cell, of_norm, int(rng.choice([1, 100, 1 << 29])))


def lstm() -> Iterator[Case]:
    rng = np.random.default_rng(22)
    flags = (False, True)
    for drawn in combinations(rng, 4, steps=(0, 1, 2, 3), batch=(0, 1, 2), inputs=SIDES, cells=SIDES, values=SIDES,
                              time_major=flags, cell_exponent=(-15, -12, -9), cifg=flags, peepholes=flags,
                              norm=flags, projection=("", "alone", "bias")):  # fmt: skip
        steps, batch, inputs, cells = (drawn[name] for name in ("steps", "batch", "inputs", "cells"))
        cifg, peepholes, norm, projection = (drawn.pop(name) for name in ("cifg", "peepholes", "norm", "projection"))
        values = drawn["values"] = drawn["values"] if projection else cells
        points = [int(z) for z in rng.integers(-128, 128, 4)]
        gates = [None if cifg and not i else _lstm_gate(rng, peepholes and i != 2, norm) for i in range(4)]
        p = numerics.LstmParameters(
            tuple(gates), _multiplier(rng), _multiplier(rng) if projection else None, drawn["cell_exponent"],
            int(rng.choice([1 << 15, 32767, 900])), int(rng.choice([128, 127, 20])), *points,
        )  # fmt: skip
        x = draw(rng, "i8", (steps, batch, inputs) if drawn["time_major"] else (batch, steps, inputs))
        weights = [
            None if gate is None else numerics.GateWeights(
                draw(rng, "i8", (cells, inputs)), draw(rng, "i8", (cells, values)),
                rng.integers(-9999, 9999, cells, np.int32),
                draw(rng, "i16", (cells,)) if gate.peephole else None, draw(rng, "i16", (cells,)) if norm else None,
            ) for gate in gates
        ]  # fmt: skip
        state = draw(rng, "i8", (batch, values)), draw(rng, "i16", (batch, cells))
        bias = rng.integers(-9999, 9999, values, np.int32) if projection == "bias" else None
        projected = (draw(rng, "i8", (values, cells)), bias) if projection else None
        given = drawn | {
            "points": points,
            "gates": [g and (g.input, g.recurrent, g.peephole, g.norm, g.least_variance) for g in gates],
            "made": p.cell_output,
            "projection": p.projection,
            "has_projection_bias": bias is not None,
            "cell_clip": p.cell_clip,
            "projection_clip": p.projection_clip,
        }

        def expected(
            x: Array = x, weights: Any = weights, projected: Any = projected, state: Any = state, p: Any = p,
            axis: int = 0 if drawn["time_major"] else 1,
        ) -> Array:  # fmt: skip
            hidden, cell, made = *state, []
            for step in np.moveaxis(x, axis, 0):
                hidden, cell = numerics.lstm_step(step, weights, projected, hidden, cell, p)
                made.append(hidden)
            y = np.stack(made, axis) if made else np.empty(0, np.int64)
            return np.concatenate([y.ravel(), hidden.ravel(), cell.ravel()])

        there = [gate for gate in weights if gate is not None]
        operands = [x, *(g.w for g in there), *(g.r for g in there), *(g.bias for g in there), *state]
        operands += [g.peephole for g in there if g.peephole is not None]
        operands += [g.norm for g in there if g.norm is not None]
        yield Case("lstm", given, (*operands, *(each for each in projected or () if each is not None)), expected)


def svdf() -> Iterator[Case]:
    rng = np.random.default_rng(23)
    for drawn in combinations(rng, 4, batch=(0, 1, 2, 3), inputs=SIDES, units=SIDES[:6], rank=(1, 2, 3),
                              memory=(1, 2, 5, 8), has_bias=(False, True)):  # fmt: skip
        batch, inputs, units, rank, memory = (drawn[name] for name in ("batch", "inputs", "units", "rank", "memory"))
        p = numerics.SvdfParameters(
            _multiplier(rng), _multiplier(rng), int(rng.integers(-128, 128)), int(rng.integers(-128, 128))
        )
        x, feature = draw(rng, "i8", (batch, inputs)), draw(rng, "i8", (units * rank, inputs))
        time, state = draw(rng, "i16", (units * rank, memory)), draw(rng, "i16", (batch, units * rank * memory))
        bias = rng.integers(-9999, 9999, units, np.int32) if drawn["has_bias"] else None
        given = drawn | {
            "x_zero_point": p.input_zero_point,
            "result_zero_point": p.result_zero_point,
            "multipliers": [p.feature, p.result],
        }
        operands = (x, feature, time, state) + (() if bias is None else (bias,))
        yield Case("svdf", given, operands, lambda x=x, f=feature, t=time, s=state, b=bias, r=rank, p=p:
                   np.concatenate([a.ravel() for a in numerics.svdf_step(x, f, t, s, b, r, p)]))  # fmt: skip


def _columns(rng: np.random.Generator, storage: str, depth: int, columns: int) -> numerics.DynamicColumns:
    info = np.iinfo(DTYPES[storage])
    points = rng.integers(info.min, info.max + 1, columns) if columns % 2 else np.full(columns, info.min + 128)
    scales = rng.uniform(0.001, 0.01, columns).astype(np.float32)
    return numerics.DynamicColumns(draw(rng, storage, (depth, columns)), points, scales)


def _dynamic(rng: np.random.Generator, *shape: int) -> Array:
    """Floats of which some are infinite, NaN or far from the others."""
    x = rng.normal(0, 2, shape).astype(np.float32)
    strange = np.float32([np.inf, -np.inf, np.nan, 3e38, 1e-45, -0.0])
    if x.size and rng.integers(3) == 0:
        x.ravel()[rng.integers(x.size)] = rng.choice(strange)
    return x


def dynamic_matmul() -> Iterator[Case]:
    """The last case has sums beyond 31 bits."""
    rng = np.random.default_rng(25)
    drawn = list(combinations(rng, 4, rows=(0, 1, 2, 3, 17), depth=SIDES, columns=SIDES, w=BYTES, packed=(False, True)))
    drawn += [{"rows": 2, "depth": 33_100, "columns": 3, "w": w, "packed": w == "u8"} for w in BYTES]
    for given in drawn:
        x = _dynamic(rng, given["rows"], given["depth"])
        w = _columns(rng, given["w"], given["depth"], given["columns"])
        given |= {"w_zero_points": w.zero_points, "w_scales": w.scales}
        packed = given.pop("packed")
        if packed:
            given["w_constant"] = w.storage
        operands = (x,) if packed else (x, w.storage)
        yield Case("dynamic_matmul", given, operands, lambda x=x, w=w: _one_nan(numerics.dynamic_product(x, w)))


def _one_nan(x: Array) -> Array:
    return np.where(np.isnan(x), np.float32("nan"), x)


def dynamic_lstm() -> Iterator[Case]:
    rng = np.random.default_rng(24)
    for drawn in combinations(rng, 4, steps=(0, 1, 2, 3), batch=(0, 1, 2), inputs=SIDES, cells=SIDES,
                              reverse=(False, True), w=BYTES, r=BYTES, packed=("", "w", "r", "wr")):  # fmt: skip
        packed = drawn.pop("packed")
        steps, batch, inputs, cells = (drawn[name] for name in ("steps", "batch", "inputs", "cells"))
        shapes = (steps, batch, inputs), (4 * cells,), (batch, cells), (batch, cells)
        x, bias, *state = (_dynamic(rng, *shape) for shape in shapes)
        given: dict[str, Any] = dict(drawn)
        weights = []
        for name, depth in (("w", inputs), ("r", cells)):
            weights.append(_columns(rng, drawn[name], depth, 4 * cells))
            given |= {f"{name}_zero_points": weights[-1].zero_points, f"{name}_scales": weights[-1].scales}
        given |= {f"{name}_constant": each.storage for name, each in zip("wr", weights, strict=True) if name in packed}
        varied = (each.storage for name, each in zip("wr", weights, strict=True) if name not in packed)
        operands = (x, *varied, bias, *state)
        yield Case("dynamic_lstm", given, operands, lambda x=x, w=weights, b=bias, s=state, back=drawn["reverse"]:
                   np.concatenate([a.ravel() for a in numerics.dynamic_lstm(x, *w, b, *s, back)]))  # fmt: skip
