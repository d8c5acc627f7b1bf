"""`python -m sitemaker stage FOLDER` writes what the generator reads, `python -m sitemaker check FOLDER` reads what it
wrote."""

import sys
from pathlib import Path

from sitemaker.check import faults_of
from sitemaker.stage import stage

if __name__ == "__main__":
    verb, folder = sys.argv[1:]
    if verb == "stage":
        stage(Path(folder))
    else:
        faults = faults_of(Path(folder))
        sys.exit("\n".join(faults) or 0)
