"""Agreement of mlir-opt and qrt on many programs, counted; and every disagreement that no difference explains."""

from collections import Counter
from collections.abc import Sequence

from tests.oracle.differences import DIFFERENCES, INCOMPARABLE, Case
from tests.oracle.draw_programs import Program
from tests.oracle.verdicts import Verdict, ours, upstream

TALLY: Counter[str] = Counter()
"""Of the whole run: printed at its end."""
EXPLAINED: Counter[str] = Counter()
"""Explained differences by name."""


def disagreements(programs: Sequence[Program], kind: str) -> tuple[list[str], list[Program]]:
    """Reports of what the two disagree on without an explanation, and the programs that both accept and print alike."""
    mine = [ours(program) for program in programs]
    agreed, reports = _compared(programs, mine, upstream(programs), "")
    TALLY[kind] += len(programs)
    return reports, [program for program, verdict in agreed if verdict.printed]


def disagreements_after(programs: Sequence[Program], name: str) -> list[str]:
    """The same of what a pass does to programs that both accept."""
    mine = [ours(program, name) for program in programs]
    reports = _compared(programs, mine, upstream(programs, f"--{name}"), f"--{name}")[1]
    TALLY[f"programs after {name}"] += len(programs)
    return reports


def _compared(
    programs: Sequence[Program], mine: Sequence[Verdict], theirs: Sequence[Verdict], flag: str
) -> tuple[list[tuple[Program, Verdict]], list[str]]:
    agreed, open_cases, reports = [], [], []
    for program, our, their in zip(programs, mine, theirs, strict=True):
        if _agree(our, their):
            TALLY["accepted by both" if our.printed else "rejected by both"] += not flag
            agreed.append((program, our))
        elif (name := _incomparable(Case(program.text, our, their))) is not None:
            EXPLAINED[name] += 1
        else:
            open_cases.append((program, our, their))
    asked = [_with_differences(program) for program, _, _ in open_cases]
    again = upstream(asked, flag) if flag else upstream(asked)
    for (program, our, their), question, answer in zip(open_cases, asked, again, strict=True):
        names = _explanation(program, our, question, answer)
        if names:
            EXPLAINED.update(names)
        else:
            TALLY["unexplained"] += 1
            reports.append(_report(program, our, their))
    return agreed, reports


def _agree(our: Verdict, their: Verdict) -> bool:
    return not their.crash and our.printed == their.printed and bool(our.error) == bool(their.error)


def _incomparable(case: Case) -> str | None:
    return next((name for name, applies in INCOMPARABLE.items() if applies(case)), None)


def _with_differences(program: Program) -> Program:
    text = program.text
    for difference in DIFFERENCES:
        text = difference.asked(text)
    return Program(text, program.unregistered)


def _explanation(program: Program, our: Verdict, question: Program, their: Verdict) -> list[str]:
    """The names of the differences that are seen, if with all of them the two agree."""
    names = []
    text, mine, printed = program.text, our.printed, their.printed
    for difference in DIFFERENCES:
        changed = difference.asked(text), difference.ours(mine), difference.theirs(printed)
        if changed != (text, mine, printed):
            names.append(difference.name)
        text, mine, printed = changed
    if question.text != text or their.crash or bool(our.error) != bool(their.error) or mine != printed:
        return []
    return names


def _report(program: Program, our: Verdict, their: Verdict) -> str:
    lines = [
        f"{program.text}\n  qrt: {our.error or 'accepted'}\n  mlir-opt: {their.crash or their.error or 'accepted'}"
    ]
    for mine, printed in zip(our.printed.splitlines(), their.printed.splitlines(), strict=False):
        if mine != printed:
            return f"{lines[0]}\n- {mine}\n+ {printed}"
    return lines[0]
