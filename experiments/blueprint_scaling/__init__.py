"""Strength of hold'em blueprints by minutes of training, number of buckets and sampler."""

from experiments.blueprint_scaling._study import Plan as Plan
from experiments.blueprint_scaling._study import main as main
