// Where the resource definitions of each supported Argo come from; nothing of it is compiled.
module kexbench.dev/devcluster/crds

go 1.24.0

require (
	github.com/argoproj/argo-workflows/v3 v3.7.15
	github.com/argoproj/argo-workflows/v4 v4.0.7
)
