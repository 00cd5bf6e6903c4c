"""Pictures of ports. Hazards: a bar in the wrong place or of the wrong height, values beyond the range in the colour of
those within it, marks where no code is, something beyond the edges."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrt.quantization.report import PortReport
from qrt.quantization.report.svg import HEIGHT, WIDTH, Axis, histogram, log2
from tests.quantization.report.drawn import port

BASE, TOP, MIDDLE, EDGE = 68, 4, 12, 4


def drawn(port: PortReport, kind: str) -> list[list[tuple[int, int]]]:
    """The outlines of a kind: the corners of each."""
    found = []
    for path in re.findall(f'<path d="([^"]*)" class="{kind}"/>', histogram(port).picture):
        for part in path.strip("zM").replace("z", "").split("M"):
            x, y = map(int, re.match(r"(\d+) (\d+)", part).groups())  # type: ignore[union-attr]
            corners = [(x, y)]
            for command, number in re.findall(r"([HV])(\d+)", part):
                x, y = (int(number), y) if command == "H" else (x, int(number))
                corners.append((x, y))
            found.append(corners)
    return found


def bars(port: PortReport, kind: str) -> dict[tuple[int, int], int]:
    """The height of each bar by its ends."""
    heights = {}
    for corners in drawn(port, kind):
        for (x, y), (end, other) in pairwise(corners):
            if y == other and x != end and y < BASE:
                heights[x, end] = BASE - y
    return heights


def test_bars_are_as_high_as_their_share_and_stand_where_their_values_are() -> None:
    """Of octaves from 1/4, where half a scale is in the axis, to 4."""
    values = np.float32([0.3] * 8 + [0.6] * 16 + [1.1] * 32 + [3.9] * 4 + [0.0] * 2)
    seen = port("x", values, 1 / 16, 0, 63)
    octave = (WIDTH - 2 * EDGE - MIDDLE) / 7  # half a scale is 2^-5, and 63/16 is below 2^2
    place = lambda value: EDGE + MIDDLE + (math.log2(value) + 5) * octave  # noqa: E731
    found = bars(seen, "bar")
    assert list(found.values()) == [4, 16, 32, 64, 8]
    assert next(iter(found)) == (EDGE, EDGE + MIDDLE)
    for (left, right), value in zip([*found][1:], (0.3, 0.6, 1.1, 3.9), strict=True):
        assert left <= place(value) <= right
        assert right - left < octave / 3
    assert bars(seen, "clipped") == {}
    assert histogram(seen).at_zero == 2 / 62
    assert histogram(seen).highest == 32 / 62


def test_negative_values_stand_left() -> None:
    seen = port("x", np.float32([-2, -2, 1]), 1 / 32)
    left, right = bars(seen, "bar").items()
    assert left[0][1] < WIDTH / 2 < right[0][0]
    assert (left[1], right[1]) == (64, 32)


def test_values_beyond_the_range_are_shown_so() -> None:
    values = np.float32([0.5, 0.5, 1, 2, 2, 2, 2, -3])
    seen = port("x", values, 1 / 64, -128, 64)
    assert sorted(bars(seen, "clipped").values()) == [16, 64]
    assert sorted(bars(seen, "bar").values()) == [16, 32]
    assert histogram(seen).outside == 5 / 8
    (low,), (high,) = ([each for each in drawn(seen, "beyond") if (each[0][0] == EDGE) == is_low] for is_low in (1, 0))
    ends = [*bars(seen, "clipped")]
    assert ends[0][1] <= low[1][0] + 1
    assert high[0][0] - 1 <= ends[1][0]
    assert high[1][0] == WIDTH - EDGE


def test_a_bar_of_which_a_part_is_beyond_has_both() -> None:
    """1.03 and 1.13 are in one bar, and the range ends between them."""
    seen = port("x", np.float32([1.03] * 3 + [1.13]), 2**-20, -(2**20), 2**20 + 2**16)
    assert bars(seen, "bar").keys() == bars(seen, "clipped").keys()
    assert (*bars(seen, "bar").values(), *bars(seen, "clipped").values()) == (48, 64)


def test_a_float_has_no_range() -> None:
    seen = port("x", np.float32([1, 1e30]), 0.0, codes=0, low=-1.0, high=1.0)
    picture = histogram(seen)
    assert picture.outside == 0
    assert not re.search('class="(beyond|zero|clipped|mark|code)"', picture.picture)
    assert picture.count == 2


def test_a_bar_of_0_above_all_others_is_cut() -> None:
    mostly = port("x", np.float32([0] * 50 + [1, 1, 2]), 1 / 32)
    assert sorted(bars(mostly, "bar").values()) == [32, 64, 64]
    assert 'class="cut"' in histogram(mostly).picture
    assert 'class="cut"' not in histogram(port("x", np.float32([0, 1, 1]), 1 / 32)).picture
    alone = port("x", np.float32([0, 0]), 1 / 32)
    assert list(bars(alone, "bar").values()) == [64]
    assert 'class="cut"' not in histogram(alone).picture


def test_codes_have_marks() -> None:
    """Of 2 bits: -2, -1, 0 and 1."""
    seen = port("x", np.float32([1, -1]), 1.0, -2, 1)
    marks = [each[0][0] for each in drawn(seen, "mark")]
    assert len(marks) == 4
    assert marks[0] == EDGE
    assert marks == sorted(marks)
    assert drawn(seen, "code") == []
    (zero,) = drawn(seen, "zero")
    assert marks[1] < zero[0][0] < marks[2] < zero[1][0] < marks[3]
    assert len(drawn(port("x", np.float32([1, -1]), 1 / 128), "code")) == 2  # they run together at both ends


def test_what_becomes_0_at_a_wide_scale_is_seen() -> None:
    """As with an outlier: the axis reaches the values though no code is near."""
    seen = port("x", np.append(np.float32([0.5, 1, 1.5] * 100), np.float32(1e6)), 1e6 / 127, -127, 127)
    (zero,) = drawn(seen, "zero")
    inside = [ends for ends in bars(seen, "bar") if zero[0][0] <= ends[0] <= ends[1] <= zero[1][0]]
    assert len(inside) >= 2


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.integers(0, 0xFFFF).filter(lambda bits: bits & 0x7F80 < 0x7F80), st.integers(1, 1 << 50), max_size=40
    ),
    st.integers(-150, 120),
    st.integers(1, 32),
    st.booleans(),
)
def test_nothing_is_beyond_the_edges_and_no_value_is_lost(
    counts: dict[int, int], exponent: int, bits: int, signed: bool
) -> None:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    scale = math.ldexp(1.25, exponent)
    seen = PortReport(
        "x", "input", "", "", False, bits, low * scale, high * scale, high - low + 1, counts, scale, 1
    )  # fmt: skip
    found = histogram(seen)
    values = {each: np.uint32(each << 16).view(np.float32).astype(float) for each in counts}
    beyond = sum(count for each, count in counts.items() if not low * scale <= values[each] <= high * scale)
    assert found.count == sum(counts.values())
    assert found.outside == beyond / max(1, found.count)
    numbers = re.findall(r'[MHx]="?(\d+)|[MHL](-?\d+)', found.picture)
    assert all(0 <= int(a or b) <= WIDTH for a, b in numbers)
    assert all(0 <= int(y) <= HEIGHT for y in re.findall(r"V(-?\d+)", found.picture))
    assert bool(drawn(seen, "clipped")) == (beyond > 0)
    assert bool(drawn(seen, "bar")) == (beyond < found.count)


@pytest.mark.parametrize("axis", [Axis(-3, 2, 5), Axis(-48, -48, 0), Axis(0, 4, 0)])
def test_greater_values_stand_farther_right(axis: Axis) -> None:
    sides = [value for exponent in range(-50, 8) for value in (-(2.0**exponent), 2.0**exponent, 1.37 * 2.0**exponent)]
    places = [axis.place(value) for value in sorted([0.0, *sides])]
    assert places == sorted(places)
    assert places[0] >= EDGE
    assert places[-1] <= WIDTH - EDGE + 1e-9


def test_logarithms_are_rounded_down_to_a_bin() -> None:
    values = [math.ldexp(1 + index / 1024, exponent) for index in range(1024) for exponent in (-130, 0, 99)]
    assert all(-1e-12 < math.log2(value) - log2(value) < 0.0113 for value in values)


def test_a_rare_value_is_seen() -> None:
    seen = port("x", np.float32([1] * 5000 + [3]), 1 / 32)
    assert sorted(bars(seen, "bar").values()) == [1, 64]


def test_zeros_are_within_a_range_from_0() -> None:
    """Negative values are beyond it, and the bar of 0 between them is not."""
    seen = port("x", np.float32([0, 0, 1, -1]), 1 / 32, 0, 63)
    (below,) = (each for each in drawn(seen, "beyond") if each[0][0] == EDGE)
    zero = max(bars(seen, "bar").items(), key=lambda item: item[1])[0]
    assert zero[1] - zero[0] == MIDDLE
    assert below[1][0] == zero[0]


def test_values_too_small_for_the_axis_count_for_the_bar_of_0() -> None:
    """48 octaves below the greatest value are shown, though half a scale is 2^-101."""
    seen = histogram(port("x", np.float32([1, 1, 2.0**-46, 2.0**-60]), 2.0**-100, 0, 1))
    assert seen.at_zero == 1 / 4
