"""`python -m kexbench.runner TICKET LOG`: measure one job and print a line of progress an invocation.

Exit status: 0 finished, 3 cancelled by SIGINT or SIGTERM, 2 unusable ticket, 4 workers were ended from outside.
An invocation that is cut short is not kept.
"""

import json
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from kexbench.runner.cpus import claim_cpus
from kexbench.runner.host import LoadMeter
from kexbench.runner.invocation import CutShort
from kexbench.runner.job import measure_job
from kexbench.runner.ticket import Ticket

CANCELLED = 3
CUT_SHORT = 4


def main(arguments: list[str]) -> int:
    try:
        ticket = Ticket.model_validate_json(Path(arguments[0]).read_bytes())
        log = Path(arguments[1])
    except (IndexError, OSError, ValidationError) as error:
        print(f"unusable ticket: {error}", file=sys.stderr)
        return 2
    stop = _StopFlag()
    try:
        cpus = claim_cpus()
        for progress in measure_job(
            ticket, cpus, log, LoadMeter(cpus.siblings, measuring=cpus.measuring).read, stop.is_set
        ):
            print(json.dumps({"case_id": progress.case_id, "done": progress.done}), flush=True)
    except CutShort as cut:
        print(f"somebody ends the workers: {cut}; see the machine's log for who, then resume the run", file=sys.stderr)
        return CUT_SHORT
    return CANCELLED if stop.is_set() else 0


class _StopFlag:
    """Set by the signals that ask for an end; the invocation under way is finished first."""

    def __init__(self) -> None:
        self._set = False
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._raise)

    def _raise(self, *_: object) -> None:
        self._set = True

    def is_set(self) -> bool:
        return self._set


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
