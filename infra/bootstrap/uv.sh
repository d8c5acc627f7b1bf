#!/bin/sh
# Prints the path of the pinned uv, installing it into the cache first where it is missing.
set -eu

here=$(dirname "$(readlink -f "$0")")
key=$(sha256sum "$here/uv-requirements.txt" | cut -c1-16)
folder=${KEXBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kexbench}/tools/uv-$key

if [ ! -x "$folder/bin/uv" ]; then
    echo "installing uv" >&2
    rm -rf "$folder.new"
    mkdir -p "$(dirname "$folder")"
    python3 -m venv "$folder.new"
    "$folder.new/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$here/uv-requirements.txt" >&2
    # uv is one static program, so it survives the move that makes the folder appear whole.
    mv -T "$folder.new" "$folder"
fi
echo "$folder/bin/uv"
