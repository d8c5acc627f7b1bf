"""`kexbench migrate` on a new store."""

from tests.cli.conftest import Cli


def test_a_new_store_is_migrated_and_its_summaries_are_computed(cli: Cli) -> None:
    migrated = cli("migrate", "--summaries", "--json")
    assert migrated.status == 0, migrated.err
    answer = migrated.json()
    assert answer["engine"].startswith("chDB ")
    assert answer["summaries"] == 0
    assert "the schema is up to date" in cli("migrate").out
