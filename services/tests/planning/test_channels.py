"""The channels as they are written: what is left out, every fault at its place, and no address in any of them."""

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kexbench.domain.notifications import AT_ONCE, BY_DAY, Happening
from kexbench.planning.channels import ConfiguredChannel, read_channels
from kexbench.planning.documents import DocumentError
from tests.builders import BENCH_SPECS

HEAD = "apiVersion: kexbench.dev/v1\nkind: Channels\nchannels:\n"
SECRET = "xoxb-s3cr3t"
URL = f"slack://{SECRET}/room"


def read(entry: str) -> ConfiguredChannel:
    (found,) = read_channels(HEAD + entry, "channels.yaml")
    return found


def complaints(document: Any) -> list[str]:
    schema = json.loads((BENCH_SPECS / "schema" / "channels.schema.json").read_text())
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


def test_what_is_left_out_is_usual() -> None:
    found = read("  - {name: crypto-team, urlFile: /run/secrets/url}\n")
    assert (found.rule.name, found.address) == ("crypto-team", Path("/run/secrets/url"))
    assert (found.rule.events, found.rule.digest_hour, found.rule.most_per_hour) == (AT_ONCE, None, 20)


def test_a_digest_tells_more_and_has_an_hour() -> None:
    found = read(f"  - {{name: daily, url: '{URL}', digest: daily}}\n")
    assert (found.rule.events, found.rule.digest_hour) == (BY_DAY, 7)
    found = read(f"  - {{name: daily, url: '{URL}', digest: daily, digestHour: 0, events: [noted], mostPerHour: 3}}\n")
    assert (found.rule.events, found.rule.digest_hour, found.rule.most_per_hour) == ((Happening.NOTED,), 0, 3)


def test_an_address_is_not_shown() -> None:
    found = read(f"  - {{name: a, url: '{URL}'}}\n")
    assert found.address == URL
    assert SECRET not in f"{found!r}{found}"


@pytest.mark.parametrize(
    ("entry", "line", "reason"),
    [
        ("  - {name: a}\n", 4, "needs either url, the address, or urlFile"),
        (f"  - {{name: a, url: '{URL}', urlFile: /x}}\n", 4, "needs either url, the address, or urlFile"),
        (f"  - name: a\n    url: '{URL} {SECRET}'\n", 5, "must be an apprise address"),
        (f"  - name: a\n    url: {SECRET}\n", 5, "must be an apprise address"),
        ("  - name: a\n    urlFile: relative\n", 5, "must match pattern"),
        (f"  - {{name: a, url: '{URL}'}}\n  - {{name: a, url: '{URL}'}}\n", 5, "'a' is given twice"),
        (f"  - {{name: A, url: '{URL}'}}\n", 4, "must match pattern"),
        (f"  - name: a\n    url: '{URL}'\n    digest: weekly\n", 6, "'weekly' is not one of none, daily"),
        (f"  - name: a\n    url: '{URL}'\n    events: [rised]\n", 6, "did you mean 'raised'"),
        (f"  - name: a\n    url: '{URL}'\n    events: []\n", 6, "must have at least 1 entry"),
        (f"  - {{name: a, url: '{URL}', events: [improved]}}\n", 4, "'improved' is sent only in a digest"),
        (f"  - {{name: a, url: '{URL}', digestHour: 7}}\n", 4, "set digest: daily"),
        (f"  - {{name: a, url: '{URL}', digest: daily, digestHour: 24}}\n", 4, "less than or equal to 23"),
        (f"  - {{name: a, url: '{URL}', mostPerHour: 0}}\n", 4, "greater than or equal to 1"),
        (f"  - {{name: a, urls: '{URL}'}}\n", 4, "did you mean 'url'"),
    ],
)
def test_faults_name_their_line_and_no_address(entry: str, line: int, reason: str) -> None:
    with pytest.raises(DocumentError) as found:
        read_channels(HEAD + entry, "channels.yaml")
    text = str(found.value)
    assert text.startswith(f"channels.yaml:{line}:")
    assert reason in text
    assert SECRET not in text


def test_what_people_are_shown_as_an_example_is_right_for_us_and_for_editors() -> None:
    page = (BENCH_SPECS.parent / "docs/operate/notifications.md").read_text()
    (example,) = re.findall(r" *apiVersion: [^`]*kind: Channels[^`]*", page)
    assert [one.rule.digest_hour for one in read_channels(dedent(example), "channels.yaml")] == [None, 7]
    assert complaints(yaml.safe_load(dedent(example))) == []


def test_an_editor_that_follows_the_schema_finds_what_is_wrong() -> None:
    def of(**entry: object) -> Any:
        entries = [{"name": "a", "url": URL, **entry}]
        return {"apiVersion": "kexbench.dev/v1", "kind": "Channels", "channels": entries}

    assert complaints(of(digest="daily", digestHour=7, events=["raised"], mostPerHour=5)) == []
    for wrong in (of(name="A"), of(events=[]), of(event="raised"), of(digest="weekly"), of(events=["raised"] * 2)):
        assert complaints(wrong) != []
