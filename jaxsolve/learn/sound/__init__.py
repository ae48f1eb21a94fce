"""Sound self-play: both seats re-solve, and what searches ask is solved in turn."""

from jaxsolve.learn.sound._self_play import sound_self_play as sound_self_play
from jaxsolve.learn.sound._settings import SelfPlaySettings as SelfPlaySettings
