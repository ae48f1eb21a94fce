"""Value (and policy) networks of beliefs, in Flax (`pip install "jaxsolve[learn]"`)."""

from jaxsolve.nets._conv import Conv as Conv
from jaxsolve.nets._files import load_net as load_net
from jaxsolve.nets._files import save_net as save_net
from jaxsolve.nets._net import Net as Net
from jaxsolve.nets._net import make_net as make_net
from jaxsolve.nets._network import BODIES as BODIES
from jaxsolve.nets._network import Output as Output
from jaxsolve.nets._network import ValueNetwork as ValueNetwork
from jaxsolve.nets._network import zero_sum as zero_sum
from jaxsolve.nets._positions import PositionNet as PositionNet
from jaxsolve.nets._positions import load_position_net as load_position_net
from jaxsolve.nets._positions import position_logit as position_logit
from jaxsolve.nets._positions import position_net as position_net
from jaxsolve.nets._positions import save_position_net as save_position_net
from jaxsolve.nets._prior import PolicyPrior as PolicyPrior
from jaxsolve.nets._prior import policy_prior as policy_prior
