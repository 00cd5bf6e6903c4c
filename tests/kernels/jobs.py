"""Calls of every family, for tests of the process around them: threads, forks, memory checkers.

`python -m tests.kernels.jobs` runs them on every ISA, against ref, and needs nothing but NumPy and the extension."""

from typing import Any

import numpy as np
import numpy.typing as npt

from qrt import numerics
from qrt._ext.kernels import (
    KernelCall,
    bind_avg_pool2d,
    bind_binary,
    bind_clamp,
    bind_contraction,
    bind_conv2d,
    bind_copy,
    bind_dcast,
    bind_depthwise_conv2d,
    bind_dynamic_lstm,
    bind_dynamic_matmul,
    bind_extremum,
    bind_float_loops,
    bind_float_matmul,
    bind_gather,
    bind_gemm,
    bind_leaky_relu,
    bind_lookup,
    bind_lookup_interpolated,
    bind_lstm,
    bind_max_pool2d,
    bind_mean,
    bind_mixed_matmul,
    bind_pack_bits,
    bind_pair,
    bind_plain,
    bind_plain_cast,
    bind_plain_select,
    bind_qcast,
    bind_requantize,
    bind_resize_bilinear,
    bind_slice,
    bind_softmax,
    bind_svdf,
    bind_top_k,
    bind_transpose_conv2d,
    bind_unpack_bits,
    isas,
)
from qrt.numerics.resizing import bilinear_positions

Array = npt.NDArray[Any]
Job = tuple[KernelCall, tuple[Array, ...]]

REQUANT = numerics.requant_parameters("fixed", "i8", -128, 127, [(2.0**-11,)], [(1.0,)], [1])
SLOPES = numerics.requant_parameters("fixed", "i8", -128, 127, [(0.7,), (2.0**-7,)], [(1.0,)] * 2, [1] * 2)
GEMMS = ((1, 5, 9), (96, 96, 96), (130, 70, 200), (2, 3, 40_000))
FLOAT_PRODUCTS = ((1, 70, 33), (1, 130, 1030), (60, 70, 130))
CONVOLUTIONS = (((1, 5, 6, 3), 3), ((1, 24, 24, 16), 3), ((2, 16, 16, 32), 1))
SIZES = (7, 40_000)


def draw(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape, dtype=np.int8)


def gemms(isa: str, rng: np.random.Generator) -> list[Job]:
    """In one block and in many, b packed at the call or once; the last sums two slices of K."""
    jobs: list[Job] = []
    for m, n, k in GEMMS:
        a, b = draw(rng, m, k), draw(rng, k, n)
        given: dict[str, Any] = {
            "isa": isa, "a": "i8", "b": "i8", "m": m, "n": n, "k": k, "a_zero_points": [3], "b_zero_points": [-1],
            "requant": REQUANT,
        }  # fmt: skip
        jobs.append((bind_gemm(**given), (a, b)))
        jobs.append((bind_gemm(**given, b_constant=b), (a,)))
        jobs.append((bind_gemm(**given | {"b_zero_points": [0]}, b_constant=b), (a,)))
    return jobs


def float_products(isa: str, rng: np.random.Generator) -> list[Job]:
    """Few rows and many, w packed at the call or once, as floats and quantized."""
    jobs: list[Job] = []
    for m, n, k in FLOAT_PRODUCTS:
        a, w = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((m, k), (k, n)))
        given: dict[str, Any] = {"isa": isa, "m": m, "n": n, "k": k, "bias": rng.random(n).astype(np.float32)}
        jobs += [(bind_float_matmul(**given), (a, w)), (bind_float_matmul(**given, w_constant=w), (a,))]
        parameters = rng.random((-(-k // 32), n)).astype(np.float32)
        zero_points = np.zeros(parameters.shape, np.int64)
        for nibbles in (True, False):
            quantized = given | {
                "nibbles": nibbles, "w": "i8", "k_block": 32, "scales": parameters, "zero_points": zero_points
            }  # fmt: skip
            q = rng.integers(-8, 8, (k, n), np.int8)
            jobs.append((bind_mixed_matmul(**quantized, w_constant=q), (a,)))
            jobs.append((bind_mixed_matmul(**quantized), (a, q)))
            along_k = quantized | {
                "k_block": None, "scales": [1.0], "zero_points": [0], "k_scales": rng.random(k).astype(np.float32),
            }  # fmt: skip
            points = {"k_zero_points": rng.integers(-8, 8, k)}
            jobs.append((bind_mixed_matmul(**along_k, w_constant=q), (a,)))
            jobs.append((bind_mixed_matmul(**along_k, **points, w_constant=q), (a,)))
            jobs.append((bind_mixed_matmul(**along_k, **points), (a, q)))
    return jobs


def float_nests(isa: str, rng: np.random.Generator) -> list[Job]:
    """Sums of products, with b packed at the call or once, and loops that add up 3 * x over their last axis."""
    jobs: list[Job] = []
    for m, n, k in FLOAT_PRODUCTS:
        a, b, start = (rng.normal(0, 1, size).astype(np.float32) for size in (m * k, k * n, n))
        product: dict[str, Any] = {
            "isa": isa, "loops": (1, 1, 1), "extents": (1, m, k, n), "offsets": (0,) * 4, "fused": True,
            "strides": ((0, k, 1, 0), (0, 0, n, 1), (0, 0, 0, 1), (0, n, 0, 1)), "sizes": (m * k, k * n, n, m * n),
            "init_constant": start,
        }  # fmt: skip
        jobs += [(bind_contraction(**product), (a, b)), (bind_contraction(**product, b_constant=b), (a,))]
    for rows, lanes, depth in ((1, 7, 3), (50, 300, 5)):
        x, start = rng.normal(0, 1, rows * depth * lanes).astype(np.float32), np.ones(rows * lanes, np.float32)
        reads = (("f32", 0, (depth * lanes, 1, lanes), 0, x.size, False, None),
                 ("f32", 1, (lanes, 1, 0), 0, start.size, True, None))  # fmt: skip
        call = bind_float_loops(
            isa=isa, loops=(2, 1), extents=(rows, lanes, depth), reads=reads,
            writes=(("f32", 1, (lanes, 1, 0), 0, start.size, False, None),), registers=4,
            steps=((2, 2, 0, 3, 0), (0, 1, 1, 2, 1)), values=np.float32([3]).view(np.uint32),
        )  # fmt: skip
        jobs.append((call, (x, start)))
    return jobs


def plain_lines(isa: str, rng: np.random.Generator) -> list[Job]:
    """Integers and bools of no quantized type."""
    jobs: list[Job] = []
    for size in SIZES:
        a, b = (rng.integers(-9, 9, size).astype(np.int32) for _ in "ab")
        given: dict[str, Any] = {"isa": isa, "dtype": np.int32, "size": size}
        jobs += [
            (bind_plain(kind="muli", **given), (a, b)),
            (bind_plain(kind="slt", **given), (a, b)),
            (bind_plain_select(**given), (a < b, a, b)),
            (bind_plain_cast(**given, out=np.int8), (a,)),
        ]
    return jobs


def windows(isa: str, rng: np.random.Generator) -> list[Job]:
    jobs: list[Job] = []
    for shape, kernel in CONVOLUTIONS:
        x, channels = draw(rng, *shape), shape[3]
        pad = ((1, 1), (1, 1)) if kernel == 3 else ((0, 0), (0, 0))
        given: dict[str, Any] = {
            "isa": isa, "x": "i8", "w": "i8", "x_shape": shape, "x_zero_point": -7, "w_zero_points": [0],
            "requant": REQUANT, "padding": pad, "strides": (1, 1), "dilations": (1, 1),
        }  # fmt: skip
        w, depthwise = draw(rng, 20, kernel, kernel, channels), draw(rng, kernel, kernel, channels)
        spread = {name: value for name, value in given.items() if name not in ("padding", "dilations")}
        spread |= {"strides": (2, 2), "padding": (1, 0)}
        pool: dict[str, Any] = {
            "isa": isa, "storage": "i8", "x_shape": shape, "kernel": (kernel, kernel), "strides": (1, 1), "padding": pad
        }  # fmt: skip
        average = numerics.requant_parameters(
            "fixed", "i8", -128, 127, [(1.0,)] * kernel**2, [(float(n + 1),) for n in range(kernel**2)], [2] * kernel**2
        )
        jobs += [
            (bind_conv2d(**given, groups=1, w_shape=w.shape, w_constant=w), (x,)),
            (bind_depthwise_conv2d(**given, w_shape=depthwise.shape), (x, depthwise)),
            (bind_transpose_conv2d(**spread, w_shape=w[:5].shape, out_size=shape[1:3]), (x, w[:5])),
            (bind_max_pool2d(**pool), (x,)),
            (bind_avg_pool2d(**pool, zero_points=[1], requant=average, count_step=1), (x,)),
        ]
    return jobs


def casts(isa: str, rng: np.random.Generator) -> list[Job]:
    jobs: list[Job] = []
    for size in SIZES:
        x, q = rng.normal(0, 30, size).astype(np.float32), draw(rng, size)
        given: dict[str, Any] = {"isa": isa, "shape": (size,), "zero_points": [3]}
        rule = {"rounding": "half_even", "zero_point": "before", "scale": "divide"}
        floats = given | {"expressed": "f32", "storage": "i8", "scales": [0.5]}
        jobs += [
            (bind_qcast(**floats | rule, storage_min=-128, storage_max=127), (x,)),
            (bind_dcast(**floats), (q,)),
            (bind_requantize(**given, storage="i8", requant=REQUANT), (q,)),
        ]
    return jobs


def lines(isa: str, rng: np.random.Generator) -> list[Job]:
    jobs: list[Job] = []
    weights = np.linspace(1 << 30, 0, 256).astype(np.int32)
    for size in SIZES:
        q, table = draw(rng, size), draw(rng, 256)
        add = {"a_zero_points": [0], "b_zero_points": [1], "a_multipliers": [1 << 19], "b_multipliers": [1 << 19]}
        bits: dict[str, Any] = {"isa": isa, "storage": "u8", "width": 4, "rows": 3, "columns": size}
        nibbles, packed = rng.integers(0, 16, (3, size), np.uint8), rng.integers(0, 256, (3, -(-size // 2)), np.uint8)
        jobs += [
            (bind_binary(isa=isa, kind="add", a="i8", b="i8", a_shape=(size,), b_shape=(size,), requant=REQUANT,
                               **add), (q, q[::-1].copy())),
            (bind_pair(isa=isa, kind="maximum", a="i8", b="i8", out="i8", a_shape=(size,), b_shape=(size,)),
             (q, q[::-1].copy())),
            (bind_pair(isa=isa, kind="table", a="i8", b="i8", out="i8", a_shape=(size,), b_shape=(size,),
                             table=np.tile(table, 256)), (q, q[::-1].copy())),
            (bind_pair(isa=isa, kind="prelu", a="i8", b="i8", out="i8", a_shape=(size,), b_shape=(1,),
                             requant=SLOPES), (q, q[:1].copy())),
            (bind_leaky_relu(isa=isa, storage="i8", size=size, zero_point=3, requant=SLOPES), (q,)),
            (bind_clamp(isa=isa, storage="i8", shape=(size,), lower=[-9], upper=[77]), (q,)),
            (bind_lookup(isa=isa, storage="i8", width=8, out="i8", size=size, table=table), (q,)),
            (bind_mean(isa=isa, storage="i8", x_shape=(size,), axes=(0,), zero_points=[1], requant=REQUANT),
             (q,)),
            (bind_softmax(isa=isa, storage="i8", x_shape=(1, size), axis=1, table=weights, out="i8",
                                storage_min=-128, storage_max=127, zero_point=-128, scale=1 / 256), (q[None],)),
            (bind_copy(dtype=np.int8, shapes=[(size,)], source_strides=[(1,)], target_strides=[(1,)],
                             source_sizes=[size], target_size=size), (q,)),
            (bind_pack_bits(**bits), (nibbles,)),
            (bind_unpack_bits(**bits), (packed,)),
        ]  # fmt: skip
    return jobs


def sequences(isa: str, rng: np.random.Generator) -> list[Job]:
    """Functions of 16 bits, every rule of softmax, and recurrent networks."""
    jobs: list[Job] = []
    for size in SIZES:
        q = rng.integers(-(1 << 15), 1 << 15, size, dtype=np.int16)
        table = rng.integers(-(1 << 15), 1 << 15, 513, dtype=np.int16)
        wide = numerics.sigmoid_results("tanh", 2.0**-12, "gemmlowp")
        jobs.append((bind_lookup_interpolated(isa=isa, fraction=7, size=size, table=table), (q,)))
        jobs += [
            (bind_lookup_interpolated(name=name, isa=isa, fraction=0, size=size, table=np.append(wide, wide[-1])),
             (q,))
            for name in ("logistic", "tanh")
        ]  # fmt: skip
        end: dict[str, Any] = {
            "out": "i8",
            "storage_min": -128,
            "storage_max": 127,
            "zero_point": -128,
            "scale": 1 / 256,
        }
        p = numerics.log_softmax_parameters(0.1)
        tables: list[tuple[str, str, dict[str, Any]]] = [
            ("softmax", "table_float32", {"table": numerics.softmax_table_float32(0.1, 1.0)}),
            ("softmax", "gemmlowp", {"table": numerics.softmax_table_gemmlowp(0.1, 1.0)}),
            ("log_softmax", "table_float32", {"table": numerics.softmax_table_float32(0.1, 1.0), "input_scale": 0.125}),
            ("log_softmax", "gemmlowp", {"table": p.table, "scaled": p.scaled, "multiplier": p.multiplier,
                                         "shift": p.shift, "radius": p.radius}),
        ]  # fmt: skip
        x = draw(rng, size // 5 + 1, 5)
        jobs += [
            (
                bind_softmax(name=name, rule=rule, isa=isa, storage="i8", x_shape=x.shape, axis=1, **end, **given),
                (x,),
            )
            for name, rule, given in tables
        ]
    cells, inputs, batch, steps = 5, 7, 2, 3
    sizes: dict[str, Any] = {"isa": isa, "batch": batch, "inputs": inputs, "x_zero_point": 3, "result_zero_point": -1}
    weights = [draw(rng, cells, depth) for depth in (inputs, cells) for _ in range(4)]
    biases = [rng.integers(-999, 999, cells, np.int32) for _ in range(4)]
    state = draw(rng, batch, cells), rng.integers(-9999, 9999, (batch, cells), np.int16)
    one = (1 << 30, -2)
    call = bind_lstm(
        isa=isa, batch=batch, inputs=inputs, steps=steps, cells=cells, values=cells, time_major=False,
        points=(3, 2, 4, 4), gates=[(one, one, None, None, 1)] * 4, made=one, projection=None,
        has_projection_bias=False, cell_exponent=-11, cell_clip=20000, projection_clip=128,
    )  # fmt: skip
    jobs.append((call, (draw(rng, batch, steps, inputs), *weights, *biases, *state)))
    time, memory = rng.integers(-999, 999, (6, 4), np.int16), rng.integers(-999, 999, (batch, 24), np.int16)
    filters = draw(rng, batch, inputs), draw(rng, 6, inputs), time, memory
    call = bind_svdf(**sizes, units=3, rank=2, memory=4, has_bias=False, multipliers=[(1 << 30, -2), (1 << 30, -9)])
    jobs.append((call, filters))
    columns: dict[str, Any] = {
        f"{name}_{what}": np.full(4 * cells, value, dtype)
        for name in "wr"
        for what, value, dtype in (("zero_points", 3, np.int32), ("scales", 0.01, np.float32))
    }
    call = bind_dynamic_lstm(
        isa=isa, steps=steps, batch=batch, inputs=inputs, cells=cells, reverse=False, w="i8", r="i8", **columns
    )
    of_w = {name: value for name, value in columns.items() if name.startswith("w")}
    rows, of_rows = rng.normal(size=(steps, inputs)).astype(np.float32), draw(rng, inputs, 4 * cells)
    of_product: dict[str, Any] = {"isa": isa, "rows": steps, "depth": inputs, "columns": 4 * cells, "w": "i8", **of_w}
    jobs.append((bind_dynamic_matmul(**of_product), (rows, of_rows)))
    jobs.append((bind_dynamic_matmul(**of_product, w_constant=of_rows), (rows,)))
    shapes = (steps, batch, inputs), (4 * cells,), (batch, cells), (batch, cells)
    x, *around = (rng.normal(size=shape).astype(np.float32) for shape in shapes)
    jobs.append((call, (x, draw(rng, inputs, 4 * cells), draw(rng, cells, 4 * cells), *around)))
    return jobs


def mixed_jobs(isa: str) -> list[Job]:
    """Small ones, and ones past the sizes from which work is shared."""
    rng = np.random.default_rng(0)
    families = (gemms, float_products, float_nests, plain_lines, windows, casts, lines, selections, sequences)
    return [job for family in families for job in family(isa, rng)]


def selections(isa: str, rng: np.random.Generator) -> list[Job]:
    """What takes elements by their positions or by their order."""
    jobs: list[Job] = []
    for size in SIZES:
        q, wide = draw(rng, size), rng.integers(0, size, 50).astype(np.int64)
        image = draw(rng, 1, 4, max(size // 100, 2), 3)
        sides = [bilinear_positions("fixed11", n, 2 * n, align_corners=False, half_pixel_centers=True)
                 for n in image.shape[1:3]]  # fmt: skip
        extremes: dict[str, Any] = {"isa": isa, "dtype": np.int8, "x_shape": (size,), "axes": (0,), "least": False}
        jobs += [
            (bind_gather(dtype=np.int8, index_dtype=np.int64, batches=1, outer=1, sizes=(size,), count=50,
                               inner=1), (q, wide)),
            (bind_slice(dtype=np.int8, x_shape=(size,), offsets=[0], sizes=[5], strides=[1], axes=[0],
                        inserts=True),
             (q[:5].copy(), q, np.array(size - 5))),
            (bind_extremum(**extremes), (q,)),
            (bind_extremum(**extremes, index_dtype=np.int64), (q,)),
            (bind_top_k(isa=isa, dtype=np.int8, rows=1, size=size, k=5), (q,)),
            (bind_resize_bilinear(isa=isa, dtype=np.int8, rule="fixed11", x_shape=image.shape, rows=sides[0],
                                        columns=sides[1]), (image,)),
        ]  # fmt: skip
    return jobs


def answer(job: Job) -> Array:
    """The last of what the call writes."""
    call, operands = job
    written = zip(call.operand_shapes[-call.outputs :], call.operand_dtypes[-call.outputs :], strict=True)
    outs = [np.empty(*each) for each in written]
    call(*operands, *outs)
    return outs[-1]


def main() -> None:
    expected = [answer(job) for job in mixed_jobs("ref")]
    for isa in isas():
        for job, right in zip(mixed_jobs(isa), expected, strict=True):
            np.testing.assert_array_equal(answer(job), right, f"{job[0]}")
        print(isa, flush=True)


if __name__ == "__main__":
    main()
