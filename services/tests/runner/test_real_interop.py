"""This machine's OpenSSL and GnuTLS against each other, over a handful of cases that differ in what they ask."""

import math
from statistics import median

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.samples import Metric, Negotiated
from tests.runner.real import GNUTLS, OPENSSL, MeasureReal, a_case, measure_real, real_kits, real_servers, values

__all__ = ["measure_real", "real_kits", "real_servers"]
pytestmark = pytest.mark.real
CASES = (
    a_case("TLSv1.2", "ECDHE-RSA", group="P-256"),
    a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519"),
    a_case("TLSv1.3", "ECDHE-RSA", group="P-256", client_authentication=True),
    a_case("TLSv1.3", "ECDHE-ECDSA", group="P-384", hello_retry=True),
    a_case("TLSv1.3", "ECDHE-ECDSA", group="X25519", chain_length=3),
    a_case("default", "default-RSA", cipher="-"),
    a_case("TLSv1.2", "RSA", group="-", cipher="AES-128-CBC-SHA"),
    a_case("TLSv1.2", "DHE-RSA", group="dh-2048", cipher="AES-256-CBC-SHA256"),
    a_case("TLSv1.2", "ECDHE-RSA", group="P-256", cipher="AES-256-CBC-SHA384"),
    a_case("TLSv1.3", "ECDHE-RSA", group="X25519", certificate_names=100),
)
PAIRS = (
    (OPENSSL, f"server:{GNUTLS}"),
    (OPENSSL, f"client:{GNUTLS}"),
    (GNUTLS, f"server:{OPENSSL}"),
    (GNUTLS, f"client:{OPENSSL}"),
)
MORE_BYTES = {  # by what the case has beyond the plain one: the side that has to send more for it
    "client_authentication": Metric.CLIENT_BYTES,
    "hello_retry": Metric.CLIENT_BYTES,
    "chain_length": Metric.SERVER_BYTES,
    "certificate_names": Metric.SERVER_BYTES,
}


def as_asked(case: Case, found: Negotiated) -> None:
    if case.protocol == "default":
        assert found.protocol in ("TLSv1.2", "TLSv1.3")
        assert found.cipher not in (None, "-")
    else:
        assert (found.protocol, found.cipher, found.group) == (case.protocol, case.cipher, case.group)
    assert not found.resumed
    assert (found.peer_key, found.peer_key_bits) == (("RSA", case.rsa_bits) if case.rsa_bits else ("EC", 256))
    assert found.chain_length == case.chain_length
    assert found.client_key == ("RSA" if case.client_authentication else "-")
    if case.protocol == "TLSv1.2":
        assert found.encrypt_then_mac == case.cipher.is_cbc, "read off the wire"
    if case.protocol == "TLSv1.3":
        assert found.hello_retry == case.hello_retry, "read off the wire"


@pytest.mark.parametrize(("subject", "peer"), PAIRS, ids=lambda text: text.replace("@system", ""))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case_id)
def test_both_libraries_agree_on_what_the_case_asks_and_both_sides_cost_something(
    case: Case, subject: str, peer: str, measure_real: MeasureReal
) -> None:
    faced = Case.model_validate(case.model_dump() | {"peer": peer})
    invocation = measure_real(faced, subject)
    assert invocation.outcomes == ()
    as_asked(case, invocation.negotiated[subject])
    for metric in (Metric.CPU_NS, Metric.CLIENT_BYTES, Metric.SERVER_BYTES):
        found = values(invocation, subject, metric)
        assert len(found) == 8, metric
        assert min(found) > 0, metric
    totals = values(invocation, subject, Metric.CPU_NS)
    client, server = (values(invocation, subject, side) for side in (Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS))
    assert len(client) == len(server)
    assert len(client) == 8 or invocation.preempted_batches, "a busy machine leaves too few batches that know sides"
    for total, *sides in zip(totals, client, server, strict=False):
        if not any(map(math.isnan, sides)):
            assert min(sides) > 0
            assert abs(total - sum(sides)) <= 1, "each value is rounded"


@pytest.mark.parametrize(("subject", "peer"), PAIRS[:2], ids=lambda text: text.replace("@system", ""))
@pytest.mark.parametrize("case", [case for case in CASES if case.variation], ids=lambda case: case.case_id)
def test_what_a_case_has_more_is_seen_in_the_bytes_of_the_side_that_sends_it(
    case: Case, subject: str, peer: str, measure_real: MeasureReal
) -> None:
    """Neither worker counts the other's bytes, so the halves have to be put together rightly."""
    (name,) = case.variation
    usual = {field: Case.model_fields[field].default for field in case.variation}
    plain, more = (
        measure_real(Case.model_validate(case.model_dump() | changed | {"peer": peer}), subject)
        for changed in (usual, {})
    )
    before, after = (median(values(one, subject, MORE_BYTES[name])) for one in (plain, more))
    assert after > before + 150
