"""What a policy is worth: best responses, exploitability, the exact linear program."""

from jaxsolve.evaluate._best_response import BestResponse as BestResponse
from jaxsolve.evaluate._best_response import action_values as action_values
from jaxsolve.evaluate._best_response import best_response as best_response
from jaxsolve.evaluate._best_response import best_response_values as best_response_values
from jaxsolve.evaluate._best_response import exploitability as exploitability
from jaxsolve.evaluate._best_response import nash_conv as nash_conv
from jaxsolve.evaluate._best_response import values as values
from jaxsolve.evaluate._lp import LPResult as LPResult
from jaxsolve.evaluate._lp import solve_lp as solve_lp
