"""`python -m experiments.reliability`: what `make fuzz` runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments._report import markdown
from experiments.reliability._reliability import PARTS, main
from jaxsolve.files import claim

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m experiments.reliability", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="in all")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--out", type=Path, default=Path("runs/reliability"))
    words = parser.parse_args()
    with claim(words.out):
        report = main(False, words.out, minutes=words.minutes, parts=tuple(words.parts))
    print(markdown(report.table))
    sys.exit(any(row["faults"] for row in report.rows))
