#!/bin/sh
# The atomic instructions that the worker finds in the libraries of a program, beside those that objdump finds in
# their functions: in what comes between these a disassembler takes data for instructions.
#   atomics.sh PROGRAM-THAT-LISTS PROGRAM FOLDER
set -u
lister=$1 program=$2 folder=$3
if [ "$(uname -m)" != x86_64 ] || ! command -v objdump >/dev/null; then
    echo "      not here: atomic instructions beside those of objdump, for x86-64"
    exit 0
fi
failed=0

# Lines that begin with hexadecimal addresses, which as long as each other are in the order of their numbers.
padded() {
    awk '{ for (i = 1; i <= NF; i++) $i = substr("0000000000000000" $i, length($i) + 1); print }' | sort -u
}

for library in $(ldd "$program" | grep -o '/[^ ]*'); do
    "$lister" sites "$library" | padded >"$folder/sites-found" || failed=1
    readelf --debug-dump=frames "$library" 2>/dev/null |
        sed -n 's/.* FDE .*pc=\([0-9a-f]*\)\.\.\([0-9a-f]*\)$/\1 \2/p' | padded >"$folder/functions"
    # XCHG with memory has no prefix.
    objdump -d --no-show-raw-insn "$library" |
        awk '/[\t ]lock [a-z]|xchg[bwlq]? .*(\(|:)/ && /^ *[0-9a-f]+:/ { sub(":", "", $1); print $1 }' | padded |
        awk -v functions="$folder/functions" '
            BEGIN { while ((getline line <functions) > 0) { n++; split(line, f, " "); from[n] = f[1]; to[n] = f[2] } at = 1 }
            { while (at < n && from[at + 1] "" <= $1 "") at++; if (from[at] "" <= $1 "" && $1 "" < to[at] "") print }
        ' >"$folder/sites-wanted"
    if cmp -s "$folder/sites-found" "$folder/sites-wanted"; then
        echo "  ok   the $(wc -l <"$folder/sites-found") atomic instructions of $(basename "$library") are those of objdump"
    else
        echo "FAILED the atomic instructions of $library are not those that objdump shows:"
        diff "$folder/sites-wanted" "$folder/sites-found" | head -n 20
        failed=1
    fi
done
exit "$failed"
