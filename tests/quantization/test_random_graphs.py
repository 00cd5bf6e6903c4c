"""Random float programs with regions are quantized, and all that must hold of each does. Hazard: annotations, calls and
loops in a combination that nobody thought of. `python -m tests.quantization.random_graphs` draws more of them.
"""

from collections import Counter
from functools import cache

from tests.quantization import checks, random_graphs
from tests.quantization.draw_graph import KERNELS

COUNT, SEED, MOST = 50, "u", 2


@cache
def every():
    return tuple(random_graphs.drawn(COUNT, SEED, MOST))


def counted(check, step=1):
    """What a check counts of every so manieth program."""
    return sum((check(one) for one in every()[::step] if not one.refused), Counter())


def test_what_is_drawn_is_seldom_refused():
    assert sum(bool(one.refused) for one in every()) <= COUNT // 10
    drawn = {checks.kernel_of(region) for one in every() if not one.refused for region in checks.regions(one.module)}
    assert drawn == {*KERNELS, "rescale"}
    texts = "".join(one.graph.text for one in every())
    assert all(name in texts for name in ("scf.for", "scf.if", "func.call", "quant.coupled_ref", "quant.dcast"))


def test_an_annotated_program_computes_what_the_float_one_does():
    counted(random_graphs.computes_as_float, 2)


def test_propagation_visits_each_region_within_the_bound():
    counts = counted(random_graphs.is_within_the_bound)
    assert counts["visits"] <= counts["bound"]


def test_propagation_is_the_same_whatever_the_order_and_the_hashes():
    assert counted(random_graphs.ignores_the_order)["orders"] > COUNT // 2
    assert random_graphs.digest_elsewhere(COUNT, SEED, MOST, 12345) == random_graphs.digest(every())


def test_check_quant_finds_no_violation():
    assert counted(random_graphs.has_no_violation)["regions"] > COUNT


def test_kernels_the_interpreter_and_generated_code_have_equal_bits():
    assert counted(random_graphs.has_equal_bits)["executed"] > COUNT // 2


def test_simulated_regions_are_within_one_code():
    assert counted(random_graphs.simulates, 2)["regions 0 codes apart"] > COUNT


def test_a_rescale_goes_when_its_annotation_is_made():
    assert counted(random_graphs.obeys_its_causes)["rescales that an annotation removes"] > 10
