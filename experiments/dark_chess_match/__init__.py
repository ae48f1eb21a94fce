"""Dark chess: agents with KLSS and KLUSS against each other and against simple players."""

from experiments.dark_chess_match._study import Match as Match
from experiments.dark_chess_match._study import main as main
