"""Value networks by ReBeL's and DeepStack's data on liar's dice, against ReBeL's figures."""

from experiments.rebel_liars_dice._study import SIZES as SIZES
from experiments.rebel_liars_dice._study import Part as Part
from experiments.rebel_liars_dice._study import Settings as Settings
from experiments.rebel_liars_dice._study import main as main
