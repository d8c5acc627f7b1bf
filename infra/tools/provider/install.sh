#!/bin/sh
# Prints the folder of the provider that the tests log in with, installing it into the cache first where it is missing.
set -eu

here=$(dirname "$(readlink -f "$0")")
cache=${KEXBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kexbench}/infra
key=provider-$(cat "$here"/install.sh "$here"/package*.json "$here"/provider.mjs | sha256sum | cut -c1-16)

if [ ! -d "$cache/$key" ]; then
    mkdir -p "$cache"
    scratch=$(mktemp -d "$cache/$key.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    cp "$here"/package*.json "$here"/provider.mjs "$scratch"
    (cd "$scratch" && npm ci --silent --no-audit --no-fund --ignore-scripts >&2)
    # Another one may have been faster; its folder is as good. A folder made by mktemp is its owner's alone.
    chmod 755 "$scratch"
    mv -T "$scratch" "$cache/$key" 2>/dev/null || [ -d "$cache/$key" ]
fi
echo "$cache/$key"
