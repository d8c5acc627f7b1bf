#!/bin/sh
# Prints the folder of blst's C sources, of the crate that is pinned here, fetching it into the cache first where it
# is missing. Cargo does it, with its own configuration of registries and mirrors.
set -eu

VERSION=0.3.17
SHA256=c20659f9bbee16cbbd2f7393e40ab6309f5a98f76a2eb57a995ec508b72387fe

key=$(sha256sum "$0" | cut -c1-16)
folder=${KEXBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kexbench}/blst/$VERSION-$key

if [ ! -d "$folder" ]; then
    command -v cargo >/dev/null || {
        echo "blst's sources are a crate: install cargo 1.68 or newer" >&2
        exit 1
    }
    echo "fetching blst $VERSION" >&2
    mkdir -p "$(dirname "$folder")"
    scratch=$(mktemp -d "$folder.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    mkdir "$scratch/src"
    touch "$scratch/src/lib.rs"
    printf '[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\nblst = "=%s"\n' $VERSION >"$scratch/Cargo.toml"
    (cd "$scratch" && cargo fetch --quiet) >&2
    crate=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/cache" -name "blst-$VERSION.crate" | head -n 1)
    echo "$SHA256  $crate" | sha256sum --check --quiet >&2
    tar -xzf "$crate" -C "$scratch"
    # Another build may have been faster; its folder is as good. A folder made by mktemp is its owner's alone.
    chmod 755 "$scratch"
    mv -T "$scratch/blst-$VERSION/blst" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
echo "$folder"
