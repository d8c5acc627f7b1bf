"""`kexbench plan`: what would be measured, for people and for machines."""

from tests.cli.conftest import Cli


def test_a_plan_names_subjects_cases_and_the_time_it_takes(cli: Cli) -> None:
    done = cli("plan", cli.spec("planned", "1.0", "1.1"))
    assert done.status == 0, done.err
    assert "fake@1.0  known once built  not built yet" in done.out
    assert "tlsv1.2_ecdhe-ecdsa_ecdsa-p-256_p-256_aes-128-gcm\n" in done.out
    assert "2 cases x 2 subjects x 6 invocations x 4 batches in 2 jobs: about 2 s" in done.out


def test_the_json_of_a_plan_is_the_same_twice(cli: Cli) -> None:
    first, second = (cli("plan", cli.spec("planned", "1.0"), "--json").json() for _ in range(2))
    assert first == second
    assert len(first["plan_id"]) == 16


def test_what_cannot_exist_is_listed_with_the_reason(cli: Cli) -> None:
    spec = cli.folder / "skipped.yaml"
    spec.write_text((cli.folder / cli.spec("planned", "1.0")).read_text().replace("[TLSv1.2]", "[TLSv1.2, TLSv1.3]"))
    done = cli("plan", str(spec))
    assert "skipped: TLS 1.3 RSA, RSA 2048: TLS 1.3 has no static RSA key exchange" in done.out
