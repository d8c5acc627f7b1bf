"""Numbers and names as people read them."""

from kexbench.api.models import Estimate
from kexbench.cli.words import by_library, duration_words, percent, rate_text


def test_a_cost_is_read_as_a_rate_with_the_half_width_of_its_interval() -> None:
    assert rate_text(Estimate(value=500_000, low=495_000, high=505_000, invocations=10)) == "2,000 ±1.0%"
    assert rate_text(Estimate(value=500_000, low=None, high=None, invocations=3)) == "2,000"


def test_a_change_always_has_its_sign() -> None:
    assert [percent(ratio) for ratio in (1.021, 0.5, 1)] == ["+2.1%", "-50.0%", "+0.0%"]


def test_a_duration_is_read_in_seconds_until_it_is_minutes() -> None:
    assert [duration_words(seconds) for seconds in (45.4, 99, 720)] == ["45 s", "99 s", "12 min"]


def test_versions_are_gathered_by_library_in_the_order_they_came() -> None:
    assert by_library(["openssl 3.5.7", "gnutls 3.8.9", "openssl 3.0.19", "gnutls 3.8.9"]) == (
        "openssl 3.5.7, 3.0.19; gnutls 3.8.9"
    )
