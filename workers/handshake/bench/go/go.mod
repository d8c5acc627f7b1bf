module kexbench/bench/go

go 1.26.8
