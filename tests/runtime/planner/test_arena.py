"""Arenas. Hazards: two that live together share bytes; one begins where its element is not aligned; far more bytes than
live at once."""

import random
from itertools import combinations

import pytest

from qrt.runtime.planner import arena
from qrt.runtime.planner.arena import Span, allocate, live_bytes


def drawn(draw, count, longest):
    return [
        Span(draw.choice([0, 1, 7, 16, 255, 256, 1000, 1024, 5000]), first, first + draw.randrange(longest + 1))
        for first in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 40, 400, 600])
def test_what_lives_together_stands_apart(count):
    draw = random.Random(count)
    for longest in (1, 5, count + 1):
        spans = drawn(draw, count, longest)
        total = allocate(spans)
        assert total == max((span.offset + span.nbytes for span in spans), default=0)
        for a, b in combinations([span for span in spans if span.nbytes], 2):
            together = a.first <= b.last and b.first <= a.last
            assert not together or a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset
        for span in spans:
            assert not span.offset % (64 if span.nbytes >= 1024 else 8)
        least = max((sum(s.nbytes for s in spans if s.first <= i <= s.last) for i in range(2 * count + 2)), default=0)
        assert least == live_bytes(spans) <= total
        if longest == 1 and 0 < count <= 400:
            assert total <= 1.2 * least


def test_the_better_order_is_taken(monkeypatch):
    """A large one that comes late finds no gap among small ones of before."""
    late = [Span(1024, 0, 1), Span(1024, 0, 3), Span(1024, 0, 1), Span(2048, 2, 3)]
    assert allocate(late) == live_bytes(late) == 3072
    monkeypatch.setattr(arena, "_MOST_SORTED", 0)
    assert allocate(late) >= 3072


@pytest.mark.parametrize("last", [(0, 1), (1, 0)])
def test_what_is_free_on_either_side_is_one_gap(last):
    assert arena._in_order_of_time([*(Span(256, 0, end) for end in last), Span(512, 2, 2)]) == 4 * 128


def test_small_ones_take_no_cache_line_each():
    spans = [Span(16, i, i + 1) for i in range(5)]
    assert allocate(spans) == live_bytes(spans) == 32
