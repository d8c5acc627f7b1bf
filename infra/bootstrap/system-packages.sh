#!/bin/sh
# Installs the Debian packages named in the given lists, those that are missing only.
# As an ordinary user it shows what it would install and asks before it uses sudo;
# KEXBENCH_YES=1 answers yes, for machines without a person.
set -eu

wanted=$(cat "$@")
# Debian's python3 comes without what `python3 -m venv` needs; other Pythons bring it along.
python3 -c 'import ensurepip' 2>/dev/null || wanted="$wanted python3-venv"

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || {
    echo "These packages are missing and there is no apt-get to install them:$missing" >&2
    exit 1
}

as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        echo "As root, run: apt-get install --no-install-recommends$missing" >&2
        exit 1
    }
    if [ "${KEXBENCH_YES:-}" != 1 ]; then
        [ -t 0 ] || {
            echo "Missing packages:$missing. Install them, or set KEXBENCH_YES=1 to let sudo do it." >&2
            exit 1
        }
        printf 'kexbench needs these Debian packages:%s\nInstall them with sudo? [y/N] ' "$missing"
        read -r answer
        case $answer in y | Y | yes) ;; *) exit 1 ;; esac
    fi
fi

echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words, each from the lists above
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
