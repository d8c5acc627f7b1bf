"""Pools as the chart is given them, read as the service reads them."""

from pathlib import Path
from typing import Any

import yaml

from kexbench.domain.pools import Pool
from kexbench.planning.pools import read_pools

ROOT = Path(__file__).parents[3]
CHART = ROOT / "charts" / "kexbench"


def pools_of(written: list[dict[str, Any]]) -> tuple[Pool, ...]:
    """Raises DocumentError with every fault."""
    document = {"apiVersion": "kexbench.dev/v1", "kind": "Pools", "pools": written}
    return read_pools(yaml.safe_dump(document), "pools.yaml")
