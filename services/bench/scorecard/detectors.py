"""The change-point detectors of the comparison."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.scorecard.peers_energy import e_divisive, hunter
from bench.scorecard.peers_ruptures import segmentation
from bench.scorecard.peers_windows import iqr_threshold, perfherder, z_threshold
from kexbench.analysis.changepoints import change_points


@dataclass(frozen=True)
class Detector:
    """A name and a function from values to the indices of the first values after each change."""

    name: str
    detect: Callable[[Sequence[float]], Sequence[int]]
    ours: bool = False


def _ours(values: Sequence[float], *, strict: bool) -> list[int]:
    return [change.index for change in change_points(values, strict=strict)]


DETECTORS = (
    Detector("kexbench, shown in charts", partial(_ours, strict=False), ours=True),
    Detector("kexbench, alerts", partial(_ours, strict=True), ours=True),
    Detector("E-divisive (MongoDB)", e_divisive),
    Detector("Hunter / Apache Otava, p < 0.001", hunter),
    Detector("Hunter / Apache Otava, p < 0.00001", partial(hunter, max_p=1e-5)),
    Detector("Perfherder's t-test, t > 7", perfherder),
    Detector("PELT (ruptures)", partial(segmentation, kernel="linear")),
    Detector("kernel change points (ruptures)", partial(segmentation, kernel="rbf")),
    Detector("IQR threshold (rustc-perf)", iqr_threshold),
    Detector("z-score threshold (Conbench)", z_threshold),
)
