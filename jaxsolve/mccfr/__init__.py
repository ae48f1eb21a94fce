"""Sampled CFR on tables [sequence, bucket]: the work of a pass is what it touches."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
