// What holds the network namespace of a pod.
module kexbench.dev/devcluster/pause

go 1.24.0
