"""`python -m jaxsolve`: the command line."""

from jaxsolve.cli import main

main()
