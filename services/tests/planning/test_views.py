"""The named views as they are written: every fault at its place, and no link to another website."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from kexbench.domain.views import View
from kexbench.planning.documents import DocumentError
from kexbench.planning.views import read_views
from kexbench.settings import Settings
from kexbench.wiring import Installation
from tests.builders import BENCH_SPECS

HEAD = "apiVersion: kexbench.dev/v1\nkind: Views\nviews:\n"
TWO = """\
  - { name: Post-quantum handshakes, link: "/?q=mlkem&library=openssl" }
  - { name: 3.5, link: "/upgrades/openssl/3.0/3.5?pool=amd%20epyc" }
"""
NO_PAGES = (
    "",
    "trends",
    "//example.com/trends",
    r"/\example.com",
    "https://example.com/trends",
    "javascript:alert(1)",
    "/trends#x",
    "/a b",
    "/runs/$runId",
    "/trends?q=\N{RIGHT-TO-LEFT OVERRIDE}",
)
SCHEMA = Draft202012Validator(json.loads((BENCH_SPECS / "schema" / "views.schema.json").read_text()))


def test_views_keep_their_order_and_names_stay_as_written() -> None:
    assert read_views(HEAD + TWO, "views.yaml") == (
        View(name="Post-quantum handshakes", link="/?q=mlkem&library=openssl"),
        View(name="3.5", link="/upgrades/openssl/3.0/3.5?pool=amd%20epyc"),
    )
    SCHEMA.validate(yaml.safe_load(HEAD + TWO))


@pytest.mark.parametrize("link", ["/", "/?q=rsa", "/trends", "/runs/20260101-120000-0a0b0c0d", "/compare?base=a~1"])
def test_a_link_is_a_page_of_the_dashboard(link: str) -> None:
    assert read_views(f"{HEAD}  - {{ name: one, link: '{link}' }}\n", "views.yaml")[0].link == link


@pytest.mark.parametrize("link", NO_PAGES)
def test_what_is_no_page_of_the_dashboard_is_refused_at_its_place(link: str) -> None:
    text = f"{HEAD}  - name: one\n    link: '{link}'\n"
    with pytest.raises(DocumentError) as caught:
        read_views(text, "views.yaml")
    assert str(caught.value).startswith("views.yaml:5:11: views.0.link: must be the address of a page")
    assert list(SCHEMA.iter_errors(yaml.safe_load(text)))


@pytest.mark.parametrize("name", ['"   "', '"a\\u202Eb"', '"a\\x07b"'])
def test_a_name_is_text_that_people_can_read(name: str) -> None:
    with pytest.raises(DocumentError, match=r"views.yaml:4:11: views.0.name: must be text that people can read"):
        read_views(f"{HEAD}  - name: {name}\n    link: /\n", "views.yaml")


def test_a_name_is_given_once() -> None:
    with pytest.raises(DocumentError, match=r"views.yaml:5:.*'one' is given twice"):
        read_views(f"{HEAD}  - {{ name: one, link: / }}\n  - {{ name: one, link: /trends }}\n", "views.yaml")


def test_the_file_in_the_home_folder_counts_unless_another_is_named(tmp_path: Path) -> None:
    assert Installation(Settings(home=tmp_path)).views() == ()
    (tmp_path / "views.yaml").write_text(HEAD + TWO)
    (tmp_path / "other.yaml").write_text(f"{HEAD}  - {{ name: other, link: / }}\n")
    assert [view.name for view in Installation(Settings(home=tmp_path)).views()] == ["Post-quantum handshakes", "3.5"]
    named = Installation(Settings(home=tmp_path, views=tmp_path / "other.yaml"))
    assert [view.name for view in named.views()] == ["other"]
