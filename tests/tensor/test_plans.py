"""What is kept of a call of NumPy's: by the types, shapes and values that decide, never by those that do not."""

import numpy as np
import pytest

import qrt

T = qrt.UniformType("i8", "f32", 0.5, 3)
RNG = np.random.default_rng(7)


def drawn(*shape: int, type: qrt.UniformType = T) -> qrt.QuantTensor:
    return qrt.QuantTensor(RNG.integers(type.storage_min, type.storage_max + 1, shape), type)


def values(x: object) -> np.ndarray:
    return np.asarray(x, np.float64)


def test_one_tensor_twice_is_another_call_than_two_tensors() -> None:
    v, w = drawn(5), drawn(5)
    for a, b in ((v, v), (v, w), (w, v), (w, w), (v, w)):
        assert values(np.vdot(a, b)) == np.vdot(values(a), values(b))
        assert values(np.einsum("i,i", a, b)) == np.vdot(values(a), values(b))


def test_the_same_memory_in_two_tensors() -> None:
    v, w = drawn(4, 4), drawn(4, 4)
    for a, b in ((v, v[...]), (v, w), (v[...], v)):
        np.testing.assert_array_equal(values(np.inner(a, b)), np.inner(values(a), values(b)))


@pytest.mark.parametrize("offset", [0, 1, -1])
def test_values_of_an_array_that_is_no_operand_decide(offset: int) -> None:
    q = drawn(4, 4)
    for given in (offset, np.array(offset), np.int64(offset)):
        assert values(np.trace(q, given)) == np.trace(values(q), offset)


def test_a_list_that_changed_later_is_not_held() -> None:
    q, widths, ranks = drawn(4, 4), [[1, 1], [0, 0]], [0.25, 0.75]
    for call, given in ((np.pad, widths), (lambda q, r: np.quantile(q, r, method="lower"), ranks)):
        before = values(call(q, given))
        call(q, given)
        kept, given[0] = given[0], given[1]
        call(q, given)
        given[0] = kept
        np.testing.assert_array_equal(values(call(q, [*given])), before)


def test_conditions_are_operands() -> None:
    q, r = drawn(8), drawn(8)
    for held in (RNG.random(8) < 0.5, np.zeros(8, bool), RNG.random(8) < 0.5):
        np.testing.assert_array_equal(values(np.where(held, q, 1.5)), np.where(held, values(q), 1.5))
        np.testing.assert_array_equal(values(np.where(held, 1.5, q)), np.where(held, 1.5, values(q)))
        for other in (r, 1.5, 2):
            found = np.select([held, ~held], [q, 2.5], other)
            np.testing.assert_array_equal(values(found), np.select([held, ~held], [values(q), 2.5], values(other)))


def test_shapes_of_packed_bits() -> None:
    t = qrt.UniformType("u1", "f32", 1.0)
    for n in (1, 2, 7, 8, 3):
        q = drawn(n, type=t)
        np.testing.assert_array_equal(values(np.cumsum(q)), np.cumsum(values(q)))


def test_kinds_and_types_are_told_apart() -> None:
    q, r = drawn(3, 3), drawn(3, 3, type=qrt.UniformType("i8", "f32", 0.25, -1))
    for x in (q, r, q):
        np.testing.assert_array_equal(values(np.sum(x, axis=0)), values(x).sum(0))
        assert values(np.sum(x)) == values(x).sum()
        np.testing.assert_array_equal(values(np.sum(x, axis=1, keepdims=True)), values(x).sum(1, keepdims=True))
        np.testing.assert_allclose(np.linalg.norm(x, axis=0), np.linalg.norm(values(x), axis=0))


def test_logical_functions_of_tensors_whose_zero_points_differ() -> None:
    types = [qrt.UniformType("i8", "f32", 0.5, z, storage_min=-2, storage_max=2) for z in (0, 1)]
    for t in types:
        for u in types:
            a, b = drawn(4, 5, type=t), drawn(5, type=u)
            for function in (np.logical_and, np.logical_or, np.logical_xor):
                found = function(a, b)
                assert found.dtype == bool
                np.testing.assert_array_equal(found, function(values(a), values(b)))
                assert function(a[0, 0], b[0]) == function(values(a)[0, 0], values(b)[0])


def test_parts_of_a_vector_are_values() -> None:
    q = drawn(3)
    if hasattr(np, "unstack"):
        before = values(q)[1]
        np.unstack(q)[1][...] = 1.0
        assert values(q)[1] == before


def test_a_view_of_a_tensor_that_never_changes_cannot_be_written() -> None:
    w = qrt.pack(drawn(4, 4))
    for view in (w[1:], np.flip(w), np.transpose(w), np.ravel(w), np.squeeze(w)):
        assert type(view) is qrt.QuantTensor
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0.0


def test_assignment_of_a_tensor_to_a_part() -> None:
    q, r = drawn(4, 4), drawn(4)
    q[1] = r
    np.testing.assert_array_equal(q.storage[1], r.storage)
    with pytest.raises(ValueError, match=r"\(4,\) does not broadcast to shape \(3,\)"):
        q[1, :3] = r
    with pytest.raises(IndexError):
        q[7] = r
    with pytest.raises(qrt.errors.QuantTypeError):
        q[1] = drawn(4, type=qrt.UniformType("i8", "f32", 0.25))
