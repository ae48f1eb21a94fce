"""Q-learning, DQN and A2C in self-play on Kuhn and Leduc (Student of Games, figure S4)."""

from experiments.rl_baselines._study import Settings as Settings
from experiments.rl_baselines._study import main as main
