"""Checks that a user runs on their own game, and golden playthroughs.

Independent of the compiler on purpose: ids of infostates and public states are assigned here by
plain dictionaries, so that the two can be held against each other.
"""

from jaxsolve.testing._check import Report as Report
from jaxsolve.testing._check import check_game as check_game
from jaxsolve.testing._playthrough import playthrough as playthrough
from jaxsolve.testing._random_game import RandomGame as RandomGame
from jaxsolve.testing._random_game import RandomTables as RandomTables
from jaxsolve.testing._random_game import random_game as random_game
from jaxsolve.testing._sample import Sample as Sample
from jaxsolve.testing._sample import random_states as random_states
from jaxsolve.testing._sample import world_states as world_states
