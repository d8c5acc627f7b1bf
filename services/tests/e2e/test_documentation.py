"""The documentation's site, read by a real browser. `make test-docs` builds it first."""

from pathlib import Path

import pytest

from sitemaker.stage import ROOT
from tests.e2e.test_dashboard import is_shown
from tests.e2e.test_published import file_server


@pytest.mark.docs
def test_the_site_has_no_barriers_and_fits_every_window(tmp_path: Path) -> None:
    with file_server(ROOT / "docs" / "site" / "build" / "html") as url:
        assert is_shown("documentation", f"{url}/", tmp_path)
