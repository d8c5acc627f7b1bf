"""Lets seeded faults happen to a real service, and checks that nothing acknowledged is lost, doubled or false.

    python -m tests.faults --seeds 100
    python -m tests.faults --first 17 --seeds 1 --keep

A seed repeats what is drawn: the faults, the runs and what people do. The moment within a program can differ, since
several processes run at once. Exit status 1 if anything was violated. Each violation names its seed.
"""

import argparse
import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import httpx2

from tests.cli.conftest import Cli
from tests.faults.checking import Costs, costs, exported, violations
from tests.faults.drawing import Injection, Kill, damage_a_file, draw_fault, draw_further
from tests.faults.scene import NEW, OLD, NeverCame, Scene

MOST_ROUNDS = 4


def play(seed: int, folder: Path, kits: Path, expected: Costs) -> tuple[Scene, list[str]]:
    """A scene of some rounds with faults, and one without. Returns what was violated."""
    random = Random(seed)
    scene = _scene(folder, kits)
    for _ in range(random.randint(1, MOST_ROUNDS)):
        fault, further = draw_fault(random), draw_further(random)
        if isinstance(fault, Injection):
            scene.happened.append(str(fault))
        kills = [fault, *further] if isinstance(fault, Kill) else further
        with scene.serving(fault) as service:
            if service is None:
                continue
            try:
                scene.submit(service, random)
                scene.act(service, random)
                scene.suffer(service, kills)
            except httpx2.HTTPError:  # the service died, or says that it cannot
                scene.failed_requests += 1
        if random.random() < 0.2 and (damage := damage_a_file(scene.home, random)):
            scene.happened.append(damage)
            scene.damaged = True
    with scene.serving(None) as service:
        if service is None:
            return scene, ["the service does not start again"]
        try:
            scene.submit(service, random)
            scene.finish(service)
            return scene, violations(scene, service, expected)
        except (NeverCame, httpx2.HTTPError) as error:
            return scene, [f"{type(error).__name__}: {error}"]


@dataclass
class Report:
    seed: int
    seconds: float
    happened: list[str]
    """The faults. A system call that is drawn may not come; kills are named if they hit a process."""
    failed_requests: int
    runs: int
    violations: list[str]

    def __str__(self) -> str:
        return f"seed {self.seed}: {'; '.join(self.happened)}: {'; '.join(self.violations) or 'nothing violated'}"


def undisturbed(folder: Path, kits: Path) -> Costs:
    scene = _scene(folder, kits)
    with scene.serving(None) as service:
        assert service is not None, "the service does not start"
        scene.submit(service, Random(0))
        scene.finish(service)
        return costs(exported(service))


def _scene(folder: Path, kits: Path) -> Scene:
    (folder / "home").mkdir(parents=True)
    shutil.copytree(kits, folder / "home" / "kits")
    return Scene(Cli(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first one")
    parser.add_argument("--at-once", type=int, default=os.cpu_count(), help="how many at the same time")
    parser.add_argument("--keep", action="store_true", help="keep the homes of scenes in which nothing was violated")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each seed")
    options = parser.parse_args()
    root = Path(mkdtemp(prefix="kexbench-faults-"))
    maker = Cli(root / "kits")
    added = maker("kits", "add", f"fake@{OLD}", f"fake@{NEW}")
    assert added.status == 0, added.err
    kits = root / "kits" / "home" / "kits"
    expected = undisturbed(root / "undisturbed", kits)

    def played(seed: int) -> Report:
        began, folder = time.monotonic(), root / str(seed)
        scene, wrong = play(seed, folder, kits, expected)
        if not wrong and not options.keep:
            shutil.rmtree(folder)
        return Report(
            seed, round(time.monotonic() - began, 1), scene.happened, scene.failed_requests, len(scene.submitted), wrong
        )

    reports = []
    with ThreadPoolExecutor(options.at_once) as pool:
        for report in pool.map(played, range(options.first, options.first + options.seeds)):
            print(json.dumps(vars(report)) if options.json else report, flush=True)
            reports.append(report)
    faults, violated = sum(len(each.happened) for each in reports), sum(bool(each.violations) for each in reports)
    print(
        f"{options.seeds} seeds with {faults} faults, {violated} with violations; homes of these are in {root}",
        file=sys.stderr,
    )
    return 1 if violated else 0


if __name__ == "__main__":
    raise SystemExit(main())
