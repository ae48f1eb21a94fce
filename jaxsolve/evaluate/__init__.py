"""What a policy is worth: best responses, exploitability, the exact linear program."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
