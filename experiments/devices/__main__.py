"""`python -m experiments.devices --job JSON`: one program for one device."""

import argparse
import json

from experiments.devices._measure import measure

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--job", type=json.loads, required=True)
print(json.dumps(measure(**parser.parse_args().job)))
