module kexbench/workers/handshake/go

// The oldest version that is measured: coroutines (iter.Pull) came with it.
go 1.23.0
