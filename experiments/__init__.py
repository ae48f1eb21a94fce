"""Experiments: one folder per figure or table, run by `jaxsolve reproduce NAME`.

A folder `experiments/NAME` is a package whose `main(quick: bool, out: Path) -> Report` computes the
rows, saves them with `Report.save` (result.json, a Markdown table, a picture) and returns them.
The first line of the package's docstring is what the list of experiments shows.
"""

from experiments._discover import load as load
from experiments._discover import names as names
from experiments._discover import summary as summary
from experiments._report import Report as Report
from experiments._report import cell as cell
from experiments._report import columns as columns
from experiments._report import device_name as device_name
from experiments._report import markdown as markdown
from experiments._report import slug as slug
