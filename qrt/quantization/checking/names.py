"""The check that a region's body computes the kernel that the region names."""

from qrt.ir.dialects.quant.region import RegionOp
from qrt.ops import FAMILIES
from qrt.quantization.forms import kernel_names, match_of


def name_disagreement(region: RegionOp) -> str | None:
    """Return an error message if a region's body computes another kernel of qrt than the one that the region names."""
    name = region.kernel
    match = match_of(region.body, name) if name in FAMILIES else None
    if match is None or name in (*kernel_names(match), FAMILIES[match.family].traits.of_floats):
        return None
    computed = " or ".join(f"'{other}'" for other in kernel_names(match))
    return f"its body computes {computed}, and not the kernel '{name}': name the kernel that the body computes"
