"""A network of what hands win after the flop, for each continuation: Modicum's other leaf values.

The rest of a hand is not played out while a flop is searched: a small network, trained on a
blueprint and its continuations, says what every pair of hands wins from each end of the flop on.
"""

from jaxsolve.holdem.leaf_net._examples import LeafExamples as LeafExamples
from jaxsolve.holdem.leaf_net._examples import leaf_examples as leaf_examples
from jaxsolve.holdem.leaf_net._features import hand_features as hand_features
from jaxsolve.holdem.leaf_net._network import LeafFactors as LeafFactors
from jaxsolve.holdem.leaf_net._network import LeafNet as LeafNet
from jaxsolve.holdem.leaf_net._search import search_street as search_street
from jaxsolve.holdem.leaf_net._showdowns import mean_signs as mean_signs
from jaxsolve.holdem.leaf_net._train import leaf_errors as leaf_errors
from jaxsolve.holdem.leaf_net._train import train as train
