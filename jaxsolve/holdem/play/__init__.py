"""Hands of hold'em between agents: their contract, matches, and the lines of the ACPC."""

from jaxsolve.holdem.play._acpc_agent import AcpcAgent as AcpcAgent
from jaxsolve.holdem.play._acpc_agent import connect as connect
from jaxsolve.holdem.play._acpc_agent import dial as dial
from jaxsolve.holdem.play._acpc_agent import listen as listen
from jaxsolve.holdem.play._acpc_agent import run_program as run_program
from jaxsolve.holdem.play._agent import HandAgent as HandAgent
from jaxsolve.holdem.play._agent import Move as Move
from jaxsolve.holdem.play._agent import RangeAgent as RangeAgent
from jaxsolve.holdem.play._agent import RangePolicy as RangePolicy
from jaxsolve.holdem.play._agent import drawn as drawn
from jaxsolve.holdem.play._agent import moves_allowed as moves_allowed
from jaxsolve.holdem.play._agent import range_of as range_of
from jaxsolve.holdem.play._agent_response import (
    agent_local_best_response as agent_local_best_response,
)
from jaxsolve.holdem.play._blueprint_agent import BlueprintAgent as BlueprintAgent
from jaxsolve.holdem.play._dealer_lines import Answered as Answered
from jaxsolve.holdem.play._dealer_lines import answer_dealer as answer_dealer
from jaxsolve.holdem.play._dealer_lines import public_hand as public_hand
from jaxsolve.holdem.play._kept import write_rows as write_rows
from jaxsolve.holdem.play._known_match import KnownMatch as KnownMatch
from jaxsolve.holdem.play._known_match import play_by_tables as play_by_tables
from jaxsolve.holdem.play._known_match import play_on_boards as play_on_boards
from jaxsolve.holdem.play._lines import HungUpError as HungUpError
from jaxsolve.holdem.play._lines import LineError as LineError
from jaxsolve.holdem.play._lines import Lines as Lines
from jaxsolve.holdem.play._log import CheckedLog as CheckedLog
from jaxsolve.holdem.play._log import HandLog as HandLog
from jaxsolve.holdem.play._log import LoggedHand as LoggedHand
from jaxsolve.holdem.play._log import LogTotal as LogTotal
from jaxsolve.holdem.play._log import check_log as check_log
from jaxsolve.holdem.play._log import read_log as read_log
from jaxsolve.holdem.play._match import AgentMatch as AgentMatch
from jaxsolve.holdem.play._match import play_match as play_match
from jaxsolve.holdem.play._open import AGENTS as AGENTS
from jaxsolve.holdem.play._open import close_agent as close_agent
from jaxsolve.holdem.play._open import open_agent as open_agent
from jaxsolve.holdem.play._person import Person as Person
from jaxsolve.holdem.play._person import range_text as range_text
from jaxsolve.holdem.play._phh import phh_actions as phh_actions
from jaxsolve.holdem.play._phh import phh_text as phh_text
from jaxsolve.holdem.play._play import AgentError as AgentError
from jaxsolve.holdem.play._play import PlayedHand as PlayedHand
from jaxsolve.holdem.play._play import play_hand as play_hand
from jaxsolve.holdem.play._play import shuffled as shuffled
from jaxsolve.holdem.play._public_hand import Choices as Choices
from jaxsolve.holdem.play._public_hand import PublicHand as PublicHand
from jaxsolve.holdem.play._public_hand import match_state as match_state
from jaxsolve.holdem.play._public_hand import new_hand as new_hand
from jaxsolve.holdem.play._public_hand import settle as settle
from jaxsolve.holdem.play._range_play import agents_range_match as agents_range_match
from jaxsolve.holdem.play._search_agent import SearchAgent as SearchAgent
from jaxsolve.holdem.play._self_play import self_play as self_play
from jaxsolve.holdem.play._server import HoldemServer as HoldemServer
from jaxsolve.holdem.play._simple import AlwaysCall as AlwaysCall
from jaxsolve.holdem.play._simple import RandomAgent as RandomAgent
