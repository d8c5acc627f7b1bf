"""The scorecard as a file that is there, is not there, or is something else."""

from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.domain.scorecard import Scorecard, to_csv
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf

EMPTY = Scorecard(measured_at=datetime(2026, 1, 2, tzinfo=UTC), version="0.1.0", machine="A machine.", parts=())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "scorecard.csv"


@pytest.fixture
def asked(empty_store: ClickHouseStore, client_of: ClientOf, file: Path) -> httpx2.Client:
    return client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, scorecard_file=file))


def test_the_scorecard_is_what_stands_in_the_file_now(asked: httpx2.Client, file: Path) -> None:
    for machine in ("A machine.", "Another one."):
        file.write_text(to_csv(EMPTY.model_copy(update={"machine": machine})))
        assert asked.get("/api/v1/scorecard").raise_for_status().json()["machine"] == machine


def test_without_a_scorecard_it_is_said_how_to_get_one(asked: httpx2.Client, client: httpx2.Client, file: Path) -> None:
    missing = asked.get("/api/v1/scorecard")
    assert missing.status_code == 404
    assert missing.json()["detail"] == f"there is no scorecard at {file}"
    assert "make scorecard" in missing.json()["remedy"]
    assert client.get("/scorecard").status_code == 404


DATELESS = to_csv(EMPTY).replace("2026", "soon")
CELL_WITHOUT_COLUMN = to_csv(EMPTY) + "part,table,1,,column,,,,\n"


@pytest.mark.parametrize("content", ["", "{", "a,b\n", DATELESS, CELL_WITHOUT_COLUMN])
def test_a_file_that_is_no_scorecard_is_an_error_that_names_it(asked: httpx2.Client, file: Path, content: str) -> None:
    file.write_text(content)
    answer = asked.get("/api/v1/scorecard")
    assert answer.status_code == 500
    assert str(file) in answer.json()["detail"]
    assert "make scorecard" in answer.json()["remedy"]
