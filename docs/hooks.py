"""What the documentation has besides its pages: notebooks, a list of all names, formulas.

MkDocs calls the functions that begin with `on_`; see `hooks` in mkdocs.yml.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import griffe
import latex2mathml.converter
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
FACES = (
    "jaxsolve",
    *("jaxsolve.game", "jaxsolve.tree", "jaxsolve.compiler", "jaxsolve.regret", "jaxsolve.public"),
    *("jaxsolve.values", "jaxsolve.evaluate", "jaxsolve.solvers", "jaxsolve.subgame"),
    *("jaxsolve.search", "jaxsolve.nets", "jaxsolve.learn", "jaxsolve.agents", "jaxsolve.holdem"),
    "jaxsolve.holdem.play",
    *("jaxsolve.view", "jaxsolve.plot", "jaxsolve.testing", "games"),
)


def on_config(config: Any) -> Any:
    """Makes fences named `math` formulas."""
    fence = {"name": "math", "class": "formula", "format": formula}
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


@event_priority(100)  # before the plugin that draws notebooks
def on_files(files: Files, config: Any) -> Files:
    """Adds the notebooks, with their outputs, and the list of names."""
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        path = f"notebooks/{notebook.name}"
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    files.append(File.generated(config, "names.md", content=names_page()))
    return files


def names_page() -> str:
    """Returns a table for each package: every name that it exports, and the name's first sentence.

    Raises:
        ValueError: an exported name has no docstring.
    """
    loader = griffe.GriffeLoader(search_paths=[str(ROOT)])
    packages = {face: loader.load(face) for face in ("jaxsolve", "games")}
    loader.resolve_aliases(implicit=True)
    lines = ["# All names", "", "Every name that a package exports, and its first sentence.", ""]
    missing, seen = [], set()
    for face in FACES:
        first, _, rest = face.partition(".")
        package = packages[first][rest] if rest else packages[first]
        rows = []
        for name, member in sorted(package.members.items(), key=lambda item: item[0].lower()):
            if name.startswith("_") or not (member.is_alias or member.is_public):
                continue
            if member.is_alias and not member.target_path.startswith(("jaxsolve", "games")):
                continue
            target = member.final_target if member.is_alias else member
            if target.is_module:
                continue
            if face == "jaxsolve":
                seen.add(target.path)
            if target.docstring is None:
                missing.append(f"{face}.{name}")
                continue
            sentence = " ".join(target.docstring.value.split("\n\n")[0].split())
            sentence = sentence.replace("|", "\\|").replace("[", "&#91;")
            rows.append(f"| `{name}` | {sentence} |")
        if rows:
            title = f"## `{face}`" + (" (`import jaxsolve as js`)" if face == "jaxsolve" else "")
            lines += [title, "", "| name | |", "|---|---|", *rows, ""]
    if missing:
        raise ValueError(f"exported names without a docstring: {', '.join(missing)}")
    return "\n".join(lines)


def formula(source: str, language: str, css: str, options: Any, md: Any, **rest: Any) -> str:
    """Returns a fence named `math` as MathML, which browsers draw without any script."""
    mathml = latex2mathml.converter.convert(source, display="block")
    return f'<div style="overflow-x: auto; overflow-y: hidden">{mathml}</div>'
