"""A real Kubernetes with real Argo Workflows on one machine, for tests and for trying out."""
