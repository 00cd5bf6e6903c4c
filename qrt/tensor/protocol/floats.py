"""Functions whose results are not exact as quantized values, each with what to write instead."""

import numpy as np

from qrt.tensor.protocol.table import has_no_exact_result

has_no_exact_result(np.exp, hint="np.exp(np.asarray(q))")
has_no_exact_result(np.sqrt, hint="np.sqrt(np.asarray(q))")
