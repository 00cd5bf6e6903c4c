"""Times one table of quantized workloads on every runtime that is installed, checked against NumPy.

    python -m benches.peers --threads 1 --case 'gemm*' --peer 'torch*,ort*' --rounds 15 --json rows.jsonl
    python -m benches.peers --list
    python -m benches.peers --plugin my_kernels.py

Each row is an object of JSON: case, peer, threads, ok, maxdiff, share (of elements that differ), first (seconds of the
shortest of its first calls), median_us, p10_us, gops or gbps. Samples of one case's peers are interleaved, in an order
that rotates. Only the call of the op is timed: weights and inputs are ready, the result exists. A peer whose package is
missing has "absent", one whose result is wrong has "ok": false, and one that is 50 times slower than the fastest has
"dropped" with the reason, and no time.

A plugin is a Python file with PEERS = {"name": make}. make(case, threads) returns None where it takes no such case, or
an object with call(), which runs the op once, and result(), which returns the last result as an array.
"""

import argparse
import fnmatch
import json
import runpy

from benches.peers import driver, runtimes
from benches.peers.cases import cases


def matching(names: list[str], patterns: str) -> list[str]:
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns.split(","))]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benches.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", default="*", help="globs, separated by commas")
    parser.add_argument("--case", default="*", help="globs, separated by commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15, help="samples of each peer")
    parser.add_argument("--budget-ms", type=float, default=4, help="length of one sample")
    parser.add_argument("--settle-ms", type=float, help="pause before each sample; 0, or 20 on more than one thread")
    parser.add_argument("--json", help="rows are appended to this file too")
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE")
    parser.add_argument("--list", action="store_true", help="prints the peers and the cases")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse()
    peers = dict(runtimes.PEERS)
    for plugin in options.plugin:
        peers |= runpy.run_path(plugin)["PEERS"]
    if options.worker:
        own = {name: make for name, make in peers.items() if runtimes.library_of(name) == options.worker}
        driver.serve(own, options.threads, options.budget_ms / 1e3)
        return
    names, found = matching([*peers], options.peer), {case.name: case for case in cases()}
    if options.list:
        print("peers:", *peers, "\ncases:", *found, sep="\n ")
        return
    settle = options.settle_ms if options.settle_ms is not None else 20.0 * (options.threads > 1)
    how = driver.Options(options.threads, options.rounds, options.budget_ms, settle, tuple(options.plugin))
    for row in driver.run([found[name] for name in matching([*found], options.case)], names, how):
        line = json.dumps(row)
        print(line, flush=True)
        if options.json:
            with open(options.json, "a") as out:
                print(line, file=out)


if __name__ == "__main__":
    main()
