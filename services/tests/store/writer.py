"""A process that stores invocations one after the other; the number of each is printed once it is stored.

`python -m tests.store.writer FOLDER add` adds all, `… add 5` the first five; `… read` prints what the store holds
of them, as JSON.
"""

import json
import sys

from kexbench.domain.runs import Run
from kexbench.domain.samples import Metric
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import Selection
from tests.builders import SPEC, a_run, an_invocation
from tests.exported import exported_rows

COUNT = 80
SUBJECTS = ("fake@1.0", "fake@1.1")


def long_run() -> Run:
    return a_run(spec=SPEC.replace("invocations: 6", f"invocations: {COUNT}"))


def main(folder: str, verb: str, count: str = str(COUNT)) -> None:
    store = ClickHouseStore(f"chdb://{folder}", "kexbench", EngineClauses())
    store.migrate()
    run = long_run()
    if verb == "add":
        store.add_run(run)
        for number in range(int(count)):
            store.add_invocation(run, an_invocation(run, number, cpu_ns=dict.fromkeys(SUBJECTS, number + 1)))
            print(number, flush=True)
    else:
        keys = sorted(key.invocation for key in store.invocations(run.run_id))
        exported = sorted((row["invocation"], row["version"]) for row in exported_rows(store, Selection(Metric.CPU_NS)))
        print(
            json.dumps(
                {"invocations": keys, "exported": exported, "medians": len(store.samples(Selection(Metric.CPU_NS)))}
            )
        )
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
