"""``python -m qrt``: the command line."""

import sys

from qrt.cli import main

if __name__ == "__main__":
    sys.exit(main())
