#!/bin/sh
# Whether an emulator is noticed: by a program on the processor itself, started by the kernel or through its loader as
# kits are; by one of this architecture beneath an emulator; and by one of another architecture.
# Without the tools of `make packages-cross` the emulators are left out.
set -eu
compiler=$1 folder=$2
machine=$(uname -m)

# built COMPILER FILE: without sanitizers, which an emulator can't start
built() {
    $1 -D_GNU_SOURCE -std=c11 -O2 -fPIE -I. -o "$2" tests/test_emulation.c emulation.c
}

program=$folder/test_emulation
built "$compiler" "$program"
"$program" no
loader=$(ldd "$program" | sed -n 's/^[[:space:]]*\(\/[^ ]*\/ld[^ ]*\) (0x.*/\1/p')
"$loader" "$program" no
if command -v "qemu-$machine-static" >/dev/null; then
    "qemu-$machine-static" "$program" yes
else
    echo "  left out: beneath an emulator of this architecture (make packages-cross)"
fi

other=aarch64-linux-gnu
if [ "$machine" != aarch64 ] && command -v $other-gcc >/dev/null && command -v qemu-aarch64-static >/dev/null; then
    built $other-gcc "$program-$other"
    qemu-aarch64-static /usr/$other/lib/ld-linux-aarch64.so.1 --library-path /usr/$other/lib "$program-$other" yes
else
    echo "  left out: beneath an emulator of another architecture (make packages-cross)"
fi
