"""Depth limits and what they are worth: multi-valued states."""

from jaxsolve.leaf._bias import biased as biased
from jaxsolve.leaf._bias import poker_class as poker_class
from jaxsolve.leaf._continuations import LeafStates as LeafStates
from jaxsolve.leaf._continuations import LimitedInfo as LimitedInfo
from jaxsolve.leaf._continuations import continuations as continuations
from jaxsolve.leaf._continuations import extend as extend
from jaxsolve.leaf._continuations import leaf_states as leaf_states
from jaxsolve.leaf._continuations import leaf_values as leaf_values
from jaxsolve.leaf._continuations import restrict as restrict
from jaxsolve.leaf._continuations import set_values as set_values
from jaxsolve.leaf._limit import DepthLimit as DepthLimit
from jaxsolve.leaf._limit import after_actions as after_actions
from jaxsolve.leaf._limit import after_round as after_round
from jaxsolve.leaf._limit import at_public_states as at_public_states
from jaxsolve.leaf._operator import MultiValued as MultiValued
from jaxsolve.leaf._prune import pruned as pruned
from jaxsolve.leaf._values import Below as Below
from jaxsolve.leaf._values import below as below
from jaxsolve.leaf._values import exact_values as exact_values
from jaxsolve.leaf._values import weaken as weaken
