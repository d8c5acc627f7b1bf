"""Change points by penalised segmentation, by the library ruptures (Truong, Oudre & Vayatis 2020)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import ruptures

PENALTY = 3.0
"""Times ln n: the modified BIC of Zhang & Siegmund (2007), the default of R's `changepoint`."""
LEAST = 4
_NORMAL = 0.6745


def segmentation(values: Sequence[float], kernel: Literal["linear", "rbf"]) -> list[int]:
    """With the linear kernel PELT (Killick, Fearnhead & Eckley 2012) for changes of the mean, with `rbf` kernel change
    points (Celisse, Marot, Pierre-Jean & Rigaill 2018). Values are logs in units of their noise, by the median absolute
    difference of neighbours."""
    if len(values) < LEAST:
        return []
    logs = np.log(values)
    noise = float(np.median(np.abs(np.diff(logs)))) / (_NORMAL * np.sqrt(2))
    if noise == 0:
        return []
    signal = (logs - np.median(logs)) / noise
    search = ruptures.KernelCPD(kernel=kernel, min_size=2).fit(signal[:, np.newaxis])
    return [int(place) for place in search.predict(pen=PENALTY * np.log(len(logs)))[:-1]]
