"""The difference of two profiles, function by function."""

import numpy as np
import pytest

from kexbench.analysis.parts import part_of
from kexbench.analysis.why import explain, explain_libraries
from kexbench.domain.profiles import UNNAMED, CallCost, Explanation, FunctionCost, PartDifference, PathStep, Profile

TURN = ("client_turn", "worker")


def profile(functions: dict[str, float], calls: dict[tuple[str, str], float] | None = None) -> Profile:
    costs = [FunctionCost(name=name, library="libcrypto", amount=own, calls=1) for name, own in functions.items()]
    return Profile(
        side="client",
        handshakes=20,
        amount=sum(functions.values()),
        functions=tuple(costs),
        calls=tuple(
            CallCost(
                caller=TURN if caller == "turn" else (caller, "libcrypto"),
                callee=(callee, "libcrypto"),
                inclusive=inclusive,
                calls=1,
            )
            for (caller, callee), inclusive in (calls or {}).items()
        ),
    )


def names(explanation: Explanation) -> list[str]:
    return [step.name for step in explanation.path]


def test_changes_are_in_their_order_with_their_share_of_the_total() -> None:
    explanation = explain(
        profile({"sign": 100, "hash": 500, "gone": 50, "same": 7}),
        profile({"sign": 100, "hash": 650, "new": 30, "same": 7}),
    )
    assert explanation.ratio == 787 / 657
    shown = [(change.name, change.before, change.after) for change in explanation.functions]
    assert shown == [("hash", 500, 650), ("gone", 50, 0), ("new", 0, 30), ("sign", 100, 100), ("same", 7, 7)]
    assert sum(change.share for change in explanation.functions) == 1
    assert explanation.functions[0].share == 150 / 130


def test_a_function_that_a_version_gave_a_prefix_is_the_same() -> None:
    explanation = explain(profile({"rsa_private": 10, "ossl_only": 4}), profile({"ossl_rsa_private": 30, "only": 4}))
    assert [(change.name, change.change) for change in explanation.functions] == [("rsa_private", 20), ("ossl_only", 0)]


def test_code_for_another_cpu_is_the_same_function() -> None:
    explanation = explain(
        profile({"sha256_block_avx2": 100, "memset_avx2_unaligned_erms": 9, "other_avx": 5, "other_sse2": 5}),
        profile({"sha256_block_avx": 120, "memset_evex_unaligned": 9, "other_avx2": 6}),
    )
    names = [(change.name, change.later_name, change.change) for change in explanation.functions]
    assert names == [
        ("sha256_block_avx2", "sha256_block_avx", 20),
        ("other_avx2", "other_avx2", 6),
        ("other_avx", "other_avx", -5),
        ("other_sse2", "other_sse2", -5),
        ("memset_avx2_unaligned_erms", "memset_evex_unaligned", 0),
    ]


def test_a_function_that_both_versions_have_is_no_other_ones_earlier_name() -> None:
    explanation = explain(profile({"hash": 10}), profile({"hash": 12, "ossl_hash": 5}))
    assert [(change.name, change.change) for change in explanation.functions] == [("ossl_hash", 5), ("hash", 2)]
    assert sum(change.share for change in explanation.functions) == 1


def test_the_path_leads_to_the_function_that_most_of_the_change_is_in() -> None:
    before = {
        ("turn", "handshake"): 1000.0,
        ("handshake", "sign"): 600.0,
        ("sign", "hash"): 300.0,
        ("handshake", "key"): 90.0,
    }
    after = before | {
        ("turn", "handshake"): 1200,
        ("handshake", "sign"): 790,
        ("sign", "hash"): 490,
        ("handshake", "key"): 100,
    }
    first, second = profile({"hash": 300, "others": 700}, before), profile({"hash": 490, "others": 710}, after)
    assert names(explain(first, second)) == ["handshake", "sign", "hash"]
    assert names(explain(second, first)) == ["handshake", "sign", "hash"]
    assert explain(first, second).path[-1] == PathStep(name="hash", before=300, after=490)
    spread = before | {("turn", "handshake"): 1200, ("handshake", "sign"): 700, ("handshake", "key"): 190}
    assert names(explain(first, profile({"hash": 300, "others": 900}, spread))) == ["handshake"]


def test_the_path_ends_where_a_function_is_called_by_one_version_alone() -> None:
    more = {("turn", "handshake"): 1500.0, ("handshake", "check"): 500.0, ("check", "hash"): 500.0}
    first = profile({"handshake": 1000}, {("turn", "handshake"): 1000.0})
    second = profile({"handshake": 1000, "hash": 500}, more)
    assert names(explain(first, second)) == ["handshake", "check"]
    assert names(explain(second, first)) == ["handshake", "check"], "the one that is gone"


@pytest.mark.parametrize(
    ("calls", "cost", "path"),
    [
        (2, 200, ["handshake", "sign"]),
        (1, 200, ["handshake", "sign", "hash"]),
        (2, 300, ["handshake", "sign", "hash"]),
    ],
    ids=["twice at the same cost", "once at twice the cost", "twice at another cost"],
)
def test_the_path_ends_where_a_function_is_called_more_often_at_the_same_cost(
    calls: float, cost: float, path: list[str]
) -> None:
    first = profile({"hash": 100}, {("turn", "handshake"): 100, ("handshake", "sign"): 100, ("sign", "hash"): 100})
    second = profile({"hash": cost}, {("turn", "handshake"): cost, ("handshake", "sign"): cost, ("sign", "hash"): cost})
    second = second.model_copy(
        update={
            "calls": tuple(
                call.model_copy(update={"calls": calls if call.callee[0] == "sign" else 1.0}) for call in second.calls
            )
        }
    )
    assert names(explain(first, second)) == path


@pytest.mark.parametrize(
    ("before", "after"), [(10_000_000, 10_000_500), (7_297, 7_306)], ids=["a small share", "a copy aligned otherwise"]
)
def test_two_counts_of_one_program_have_no_path(before: float, after: float) -> None:
    first, second = (profile({"hash": count}, {("turn", "hash"): count}) for count in (before, after))
    assert explain(first, second).path == ()


def test_a_function_that_is_called_from_everywhere_is_where_its_own_change_is() -> None:
    calls = {("turn", "handshake"): 2000.0, ("handshake", "hash"): 500.0, ("verify", "hash"): 500.0}
    first = profile({"handshake": 1000, "hash": 1000}, calls | {("handshake", "verify"): 500})
    more = {("turn", "handshake"): 3000.0, ("handshake", "hash"): 1000.0, ("verify", "hash"): 1000.0}
    second = profile({"handshake": 1000, "hash": 2000}, more | {("handshake", "verify"): 1000})
    explanation = explain(first, second)
    assert names(explanation) == ["handshake"], "neither of its callees has most of the change"
    assert explanation.place == PathStep(name="hash", before=1000, after=2000)


def test_a_function_that_one_version_alone_calls_is_where_the_change_is() -> None:
    first = profile({"hash": 1000}, {("turn", "hash"): 1000.0})
    second = profile({"hash": 2000}, {("turn", "hash"): 1000.0, ("turn", "check"): 1000.0, ("check", "hash"): 1000.0})
    assert explain(first, second).place == PathStep(name="check", before=0, after=1000)


def test_a_function_with_a_new_name_is_not_where_the_change_is() -> None:
    def version(name: str, own: float, of_name: float) -> Profile:
        calls = {("turn", "handshake"): own + of_name, ("handshake", "read"): of_name / 2, ("read", name): of_name / 2}
        return profile(
            {"handshake": own, name: of_name},
            calls | {("handshake", "write"): of_name / 2, ("write", name): of_name / 2},
        )

    explanation = explain(version("update", 1000, 5000), version("thunk", 1500, 5100))
    assert (explanation.functions[0].name, explanation.functions[0].share) == ("thunk", 5100 / 600)
    assert explanation.place == PathStep(name="handshake", before=6000, after=6600)


def test_what_counts_differ_by_chance_alone_has_no_function() -> None:
    """In a hundred pairs of versions that differ in nothing, one may have a change."""
    chance = np.random.default_rng(3)
    changed = 0
    for _ in range(2000):
        (one, other), (again, last) = 1e6 * (1 + 0.0005 * chance.standard_normal((2, 2)))
        spread = max(max(pair) / min(pair) - 1 for pair in ((one, other), (again, last)))
        changed += explain(profile({"sign": other}), profile({"sign": last}), spread).has_changed
    assert changed < 2000 * 0.015
    noise = explain(profile({"sign": 1e6}), profile({"sign": 1.0003e6}), spread=0.0003)
    assert (noise.has_changed, noise.place, noise.path) == (False, None, ())
    real = explain(profile({"sign": 1e6}), profile({"sign": 2.78e6}), spread=0.0003)
    assert real.place is not None
    assert real.place.name == "sign"


def test_no_count_is_negative_also_if_it_was_stored_so() -> None:
    stored = profile({"sign": 100, "once": 50}).model_dump(mode="json")
    stored["functions"][1] |= {"amount": -134.0, "calls": -0.5}
    before = Profile.model_validate(stored)
    shown = {change.name: change for change in explain(before, profile({"sign": 900, "once": 0})).functions}
    assert (shown["once"].before, shown["once"].after, shown["once"].calls_before) == (0, 0, 0)
    assert shown["sign"].after == 900


BORING_CREATE = "bssl::SSLAEADContext::Create(evp_aead_direction_t, unsigned short, bssl::Span<unsigned char const>)"
AWSLC_CREATE = "bssl::SSLAEADContext::Create(evp_aead_direction_t, bool)"


def test_two_libraries_are_matched_by_name_whatever_namespace_parameters_and_cpu_they_are_for() -> None:
    explanation = explain_libraries(
        profile(
            {
                "__ecp_nistz256_mul_montq": 340,
                "sha256_block_data_order_avx2": 240,
                "ecp_nistz256_point_double": 50,
                "table_select": 8,
                AWSLC_CREATE: 5,
                "fe_mul": 270,
            }
        ),
        profile(
            {
                "__ecp_nistz256_mul_montq": 330,
                "sha256_block_data_order_avx": 250,
                "ecp_nistz256_point_double_nohw": 45,
                "table_select(bssl::ge_precomp*, int, signed char)": 66,
                BORING_CREATE: 4,
                "x25519_scalar_mult_generic(unsigned char*, unsigned char const*, unsigned char const*)": 450,
                "block_cipher_df(unsigned char*, unsigned long) [clone .constprop.0]": 3,
                "bssl::(anonymous namespace)::X25519KeyShare::GroupID() const": 2,
            }
        ),
    )
    changes = {change.name: (change.later_name, change.before, change.after) for change in explanation.functions}
    assert changes == {
        "x25519_scalar_mult_generic": ("x25519_scalar_mult_generic", 0, 450),
        "fe_mul": ("fe_mul", 270, 0),
        "table_select": ("table_select", 8, 66),
        "__ecp_nistz256_mul_montq": ("__ecp_nistz256_mul_montq", 340, 330),
        "sha256_block_data_order_avx2": ("sha256_block_data_order_avx", 240, 250),
        "ecp_nistz256_point_double": ("ecp_nistz256_point_double_nohw", 50, 45),
        "block_cipher_df": ("block_cipher_df", 0, 3),
        "X25519KeyShare::GroupID": ("X25519KeyShare::GroupID", 0, 2),
        "SSLAEADContext::Create": ("SSLAEADContext::Create", 5, 4),
    }
    assert (explanation.path, explanation.place) == ((), None)


def test_the_parts_of_two_libraries_add_up_to_both() -> None:
    first = profile({"__ecp_nistz256_mul_montq": 340, "fe_mul": 270, "ossl_fnv1a_hash": 35, "bn_mul_mont": 5})
    second = profile({"__ecp_nistz256_mul_montq": 330, "curve25519_x25519_alt": 328, "bn_mul_mont_nohw": 6, "step": 1})
    second = second.model_copy(update={"amount": second.amount - 6})
    explanation = explain_libraries(first, second)
    rows = [
        (part.name, part.matched_before, part.matched_after, part.only_before, part.only_after)
        for part in explanation.parts
    ]
    assert rows == [
        ("NIST curves", 340, 330, 0, 0),
        ("Curve25519", 0, 0, 270, 328),
        ("finding algorithms", 0, 0, 35, 0),
        ("RSA and big numbers", 5, 6, 0, 0),
        ("other", 0, 0, 0, 1),
        ("in no function", 0, 0, 0, -6),
    ]
    assert sum(part.before for part in explanation.parts) == explanation.before == 650
    assert sum(part.after for part in explanation.parts) == explanation.after == 659
    assert explain(first, second).parts == ()


def test_functions_without_a_name_match_no_others() -> None:
    (part,) = explain_libraries(profile({UNNAMED: 900}), profile({UNNAMED: 800})).parts
    assert part == PartDifference(name=UNNAMED, matched_before=0, matched_after=0, only_before=900, only_after=800)


@pytest.mark.parametrize(
    ("name", "library", "part"),
    [
        ("bignum_montinv_p256", "worker", "NIST curves"),
        ("beeu_mod_inverse_vartime", "worker", "NIST curves"),
        ("bn_mulx4x_mont", "worker", "RSA and big numbers"),
        ("rsaz_1024_mul_avx2", "worker", "RSA and big numbers"),
        ("ossl_x25519_public_from_private", "worker", "Curve25519"),
        ("EVP_DigestUpdate", "worker", "hashes"),
        ("aes_hw_encrypt", "worker", "ciphers"),
        ("evp_generic_fetch", "worker", "finding algorithms"),
        ("asn1_item_embed_d2i", "worker", "certificates and ASN.1"),
        ("CBB_flush", "worker", "TLS and encoding"),
        ("s2n_hmac_init", "worker", "TLS and encoding"),
        ("OPENSSL_cleanse", "worker", "memory and system"),
        ("__memset_avx2_unaligned_erms", "libc", "memory and system"),
        (UNNAMED, "???", "memory and system"),
        (UNNAMED, "libcrypto", UNNAMED),
        ("pipe_read", "worker", "other"),
    ],
)
def test_names_tell_the_part(name: str, library: str, part: str) -> None:
    assert part_of(name, library) == part
