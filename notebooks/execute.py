"""Writes the notebooks: each from its .py half, executed, without times in its metadata.

Run it after a change of a .py half: `make write-notebooks`.
"""

from __future__ import annotations

from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient


def main() -> None:
    """Writes every notebook of this folder."""
    here = Path(__file__).parent
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for source in sorted(here.glob("[0-9]*.py")):
        notebook = jupytext.read(source, config=jupytext.config.load_jupytext_config(str(source)))
        NotebookClient(
            notebook,
            timeout=300,
            kernel_name=kernel["name"],
            record_timing=False,
            coalesce_streams=True,
        ).execute(cwd=here)
        for k, cell in enumerate(notebook.cells):
            cell.id = f"cell-{k}"
        notebook.metadata.update(kernelspec=kernel, language_info={"name": "python"})
        nbformat.write(notebook, source.with_suffix(".ipynb"))
        print(source.with_suffix(".ipynb").name)


if __name__ == "__main__":
    main()
