"""`kexbench migrate` on a new store."""

from tests.cli.conftest import Cli


def test_a_new_store_is_migrated_and_its_summaries_are_computed(cli: Cli) -> None:
    migrated = cli("migrate", "--summaries", "--json")
    assert migrated.status == 0, migrated.err
    answer = migrated.json()
    assert answer["engine"].startswith("chDB ")
    assert answer["summaries"] == 0
    assert "the schema is up to date" in cli("migrate").out


def test_a_store_that_a_service_has_open_is_not_migrated(cli: Cli) -> None:
    with cli.serving() as (service, url):
        refused = cli("migrate", "--summaries")
    assert refused.status == 1
    assert refused.err.strip() == f"process {service.pid} already serves this store at {url}"
    assert cli("migrate").status == 0
