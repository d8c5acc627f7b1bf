"""Refusals of `qualify`, and the error of a spec with `resolve` on a machine that is not qualified."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

RESOLVE = """\
apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: fine }
subjects: [{ openssl: system }]
matrix: { protocol: [TLSv1.2], keyExchange: [RSA] }
measure: { resolve: 1% }
"""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("wolfssl",), "wolfssl cannot be relinked; supported are openssl, gnutls"),
        (("openssl", "wolfssl"), "wolfssl cannot be relinked; supported are openssl, gnutls"),
        (("openssl", "--case", "*nothing*"), "no case matches *nothing*; there are tlsv1.2_rsa_rsa-2048_aes-128-gcm"),
        (("openssl", "--invocations", "11"), "greater than or equal to 12"),
        (("openssl", "--group", "2"), "greater than or equal to 3"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error_before_anything_is_built(
    arguments: tuple[str, ...], says: str, cli: Cli
) -> None:
    done = cli("qualify", *arguments)
    assert done.status == 2
    assert says in " ".join(done.err.replace("│", " ").split())
    assert not (cli.folder / "home").exists()


def test_what_a_change_takes_is_not_guessed_where_nothing_is_qualified(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "fine.yaml"
    path.write_text(RESOLVE)
    line = RESOLVE.splitlines().index("measure: { resolve: 1% }") + 1
    done = cli("run", str(path))
    assert done.status == 1
    assert f"{path}:{line}:21: measure.resolve: openssl is not qualified on this machine" in done.err
    assert "run kexbench qualify openssl, or set invocations instead" in done.err
    assert not (cli.folder / "home" / "runs").exists()
