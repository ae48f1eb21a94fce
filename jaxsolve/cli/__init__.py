"""The command line. Modules that need JAX are imported when a command runs, not before."""

from jaxsolve.cli._main import main as main
