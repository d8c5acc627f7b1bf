"""Facts of runs, those of earlier releases among them."""

from kexbench.domain.runs import Run, Trigger
from tests.builders import a_run


def test_a_run_that_a_command_of_an_earlier_release_measured_is_one_that_somebody_asked_for() -> None:
    stored = a_run().model_dump_json().replace('"trigger":"api"', '"trigger":"command-line"')
    assert "command-line" in stored
    assert Run.model_validate_json(stored) == a_run()
    assert Trigger("command-line") is Trigger.API, "as the store's rows name it"
