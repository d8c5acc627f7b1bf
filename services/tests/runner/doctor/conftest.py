"""Files of a made-up machine."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.runner.doctor.machines import BARE_METAL, MakeTree


@pytest.fixture
def tree(tmp_path: Path) -> MakeTree:
    """The files of the machine above with some changed, or taken away by None."""

    def make(changes: Mapping[str, str | None] = {}) -> Path:
        for path, text in {**BARE_METAL, **changes}.items():
            if text is not None:
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).write_text(text)
        return tmp_path

    return make
