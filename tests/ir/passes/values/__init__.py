"""The value sweep: programs are executed by the interpreter before and after a pass, on hostile arguments, and all that
can be seen of them is compared bit for bit; every fold and every pattern fires on a program that is executed.

`python -m tests.ir.passes.values --programs 20000 --seed 7` draws more than the tests do.
"""
