module kexbench/go

// Its version is that of the library: it decides what crypto/tls does by default (GODEBUG). A kit's recipe
// (services/src/kexbench/kits/build_go.py) puts another one here. The oldest is 1.23, which brought iter.Pull.
go 1.26.8
