"""The description of a package's page: README.md without what only a clone has.

A relative link or picture leads nowhere outside a clone, and no address of the repository is known
that it could be completed with. So a link becomes its words, and a picture goes with its caption.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HERE = r"(?!https?://|#)[^)\s]+"
"""What a relative link leads to."""


class Readme(MetadataHookInterface):
    """Gives the field `readme` its text."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Sets the description from README.md."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": without_links(text)}


def without_links(text: str) -> str:
    """Returns Markdown whose relative links are words, without relative pictures and captions."""
    text = re.sub(rf"!\[[^\]]*\]\({HERE}\)\n\n\*[^*]+\*\n\n", "", text)
    return re.sub(rf"\[([^\]]+)\]\({HERE}\)", r"\1", text)
