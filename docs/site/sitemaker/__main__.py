"""`python -m sitemaker stage FOLDER` writes what the generator reads, `python -m sitemaker check FOLDER` reads what it
wrote, and `python -m sitemaker man FILE` writes the manual page."""

import sys
from pathlib import Path

from sitemaker.check import faults_of
from sitemaker.man_page import man_page
from sitemaker.stage import stage

if __name__ == "__main__":
    verb, place = sys.argv[1:]
    if verb == "stage":
        stage(Path(place))
    elif verb == "man":
        Path(place).write_text(man_page(), encoding="utf-8")
    else:
        faults = faults_of(Path(place))
        sys.exit("\n".join(faults) or 0)
