"""What a policy is worth: best responses, exploitability, the exact linear program."""

from jaxsolve.evaluate._aivat import aivat as aivat
from jaxsolve.evaluate._aivat import outcome_probabilities as outcome_probabilities
from jaxsolve.evaluate._aivat import state_values as state_values
from jaxsolve.evaluate._best_response import BestResponse as BestResponse
from jaxsolve.evaluate._best_response import action_values as action_values
from jaxsolve.evaluate._best_response import best_response as best_response
from jaxsolve.evaluate._best_response import best_response_values as best_response_values
from jaxsolve.evaluate._best_response import exploitability as exploitability
from jaxsolve.evaluate._best_response import nash_conv as nash_conv
from jaxsolve.evaluate._best_response import values as values
from jaxsolve.evaluate._lbr import local_best_response as local_best_response
from jaxsolve.evaluate._lp import LPResult as LPResult
from jaxsolve.evaluate._lp import solve_lp as solve_lp
from jaxsolve.evaluate._match import Arena as Arena
from jaxsolve.evaluate._match import Match as Match
from jaxsolve.evaluate._match import Score as Score
from jaxsolve.evaluate._match import arena as arena
from jaxsolve.evaluate._match import play_matches as play_matches
from jaxsolve.evaluate._match import score as score
