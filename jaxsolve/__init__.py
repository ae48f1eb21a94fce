"""jaxsolve: imperfect-information games as public-tree tensors, solved on CPU, GPU and TPU.

The folders below `jaxsolve` are its attributes, imported when they are first asked for, as all
names are (`__init__.pyi` lists them). So is `js.games`, the package of games.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from jaxsolve.caches import keep_programs

__version__ = "0.1.0"

keep_programs()

_attribute, _names, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "games":
        from jaxsolve.game import bundled

        return bundled()
    return _attribute(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_names(), "games"})
