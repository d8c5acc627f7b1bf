"""Matrices that name levels of security: which cases they become, and why some do not."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from kexbench.domain.security import SecurityModel
from kexbench.domain.security_levels import SECURITY_LEVELS
from kexbench.domain.strength import strength
from kexbench.planning.catalogue import read_catalogue
from kexbench.planning.expand import count_cases, expand
from kexbench.planning.plan import make_plan
from kexbench.planning.spec import Matrix
from tests.builders import BENCH_SPECS

EQUAL_SECURITY = BENCH_SPECS / "articles" / "equal-security.yaml"
FORWARD_SECRECY_2011 = BENCH_SPECS / "articles" / "forward-secrecy-2011.yaml"


def expanded(written: str) -> tuple[list[str], list[str]]:
    """The ids of the cases, and what is skipped with the reason."""
    cases, skipped = expand([Matrix.model_validate(yaml.safe_load(written))], {})
    return [case.case_id for case in cases], [f"{each.combination}: {each.reason}" for each in skipped]


def test_a_level_becomes_the_sizes_that_the_first_article_chose_by_hand() -> None:
    written = yaml.safe_load(FORWARD_SECRECY_2011.read_text())["matrix"][1]
    by_hand = expand([Matrix.model_validate(written)], {})[0]
    cases, skipped = expanded(
        "{ protocol: [TLSv1.2], keyExchange: [RSA, DHE-RSA, ECDHE-RSA, ECDHE-ECDSA], securityBits: [96], "
        "securityModel: ecrypt }"
    )
    assert [case_id for case_id in cases if "x25519" not in case_id] == [case.case_id for case in by_hand]
    assert skipped == []


def test_the_usual_level_has_matched_key_exchanges_and_certificates() -> None:
    cases, skipped = expanded(
        "{ protocol: [TLSv1.3], keyExchange: [DHE-RSA, ECDHE-ECDSA, MLKEM-ML-DSA-44], securityBits: [128] }"
    )
    assert cases == [
        "tlsv1.3_dhe-rsa_rsa-3072_ffdhe3072_aes-128-gcm",
        "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_p-256_aes-128-gcm",
        "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm",
        "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519mlkem768_aes-128-gcm",
        "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_secp256r1mlkem768_aes-128-gcm",
        "tlsv1.3_mlkem-ml-dsa-44_mlkem512_aes-128-gcm",
    ]
    assert skipped == []


def test_of_keys_of_one_kind_the_weakest_that_suffices_is_measured() -> None:
    cases, skipped = expanded(
        "{ protocol: [TLSv1.3], keyExchange: [MLKEM-ML-DSA-44, MLKEM-ML-DSA-87], securityBits: [128, 192, 256] }"
    )
    assert cases == [
        "tlsv1.3_mlkem-ml-dsa-44_mlkem512_aes-128-gcm",
        "tlsv1.3_mlkem-ml-dsa-87_mlkem768_aes-256-gcm",
        "tlsv1.3_mlkem-ml-dsa-87_mlkem1024_aes-256-gcm",
    ]
    assert skipped[0] == "TLS 1.3 MLKEM-ML-DSA-87 at 128 bits: ML-DSA-44 is enough for 128 bits"
    assert skipped[1].endswith("at 192 bits: ML-DSA-44, the certificate's key, has 128 bits of security under nist")


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("protocol: [TLSv1.3], keyExchange: [RSA]", "TLS 1.3 has no static RSA key exchange"),
        ("protocol: [default], keyExchange: [default-RSA]", "the library chooses the key exchange"),
        ("protocol: [TLSv1.2], keyExchange: [RSA]", "there is no RSA key of up to 8192 bits with 256 bits"),
        ("protocol: [TLSv1.3], keyExchange: [DHE-ECDSA]", "there is no group for DHE with 256 bits"),
        ("protocol: [TLSv1.3], keyExchange: [ECDHE-Ed448]", "Ed448, the certificate's key, has 224 bits"),
        ("protocol: [TLSv1.3], keyExchange: [ECDHE-ML-DSA-87], securityModel: ecrypt", "ecrypt says nothing about ML-"),
        ("protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], securityModel: cnsa", "there is no cipher with 256 bits"),
        (
            "protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], securityModel: cnsa-2",
            "there is no curve for certificates",
        ),
    ],
)
def test_a_key_exchange_without_enough_strength_says_what_lacks(written: str, reason: str) -> None:
    cases, skipped = expanded(f"{{ {written}, securityBits: [256] }}")
    assert cases == []
    assert all(reason in each for each in skipped)
    assert skipped


def test_a_long_rsa_key_is_skipped_for_the_hash_that_it_signs() -> None:
    cases, skipped = expanded("{ protocol: [TLSv1.2], keyExchange: [RSA, ECDHE-RSA], securityBits: [192] }")
    assert cases == ["tlsv1.2_rsa_rsa-7680_aes-256-gcm"]
    reason = "at 192 bits: SHA-256, the hash of the signature, has 128 bits of security under nist"
    assert all(each.endswith(reason) for each in skipped)


@pytest.mark.parametrize("model", ["nist", "ecrypt", "cnsa", "cnsa-2"])
def test_every_case_reaches_its_level_and_the_count_is_an_upper_bound(model: str) -> None:
    written = {
        "protocol": ["TLSv1.2", "TLSv1.3"],
        "keyExchange": ["RSA", "DHE-RSA", "ECDHE-RSA", "ECDHE-ECDSA", "ECDHE-Ed25519", "MLKEM-ML-DSA-87"],
        "securityModel": model,
    }
    planned = 0
    for level in SECURITY_LEVELS:
        matrix = Matrix.model_validate(written | {"securityBits": [level]})
        cases, _ = expand([matrix], {})
        assert all((strength(case, matrix.security_model).bits or 0) >= level for case in cases)
        assert len(cases) <= count_cases(written | {"securityBits": [level]})
        planned += len(cases)
    assert planned > 0


def test_a_level_varies_everything_that_it_does_not_set() -> None:
    cases, _ = expanded(
        "{ protocol: [TLSv1.3], keyExchange: [MLKEM-RSA], securityBits: [112], chainLength: [1, 2], threads: [1, 2] }"
    )
    assert len(cases) == 4


def test_the_spec_of_the_first_articles_question_plans_and_satisfies_the_schema() -> None:
    text = EQUAL_SECURITY.read_text()
    catalogue = read_catalogue((BENCH_SPECS / "libraries.yaml").read_text(), "libraries.yaml")
    plan = make_plan(text, EQUAL_SECURITY.name, catalogue)
    strengths = {strength(case, SecurityModel.ECRYPT).bits or 0 for case in plan.cases}
    assert [level for level in SECURITY_LEVELS if not any(bits >= level for bits in strengths)] == []
    assert plan.estimated_s < plan.measure.max_duration_s / 2
    first, *_ = text.splitlines()
    schema = json.loads((EQUAL_SECURITY.parent / first.partition("$schema=")[2]).read_text())
    assert list(Draft202012Validator(schema).iter_errors(yaml.safe_load(text))) == []
