# Nothing here needs a cloud: the tests evaluate it as it is.

locals {
  # As the node pool's API names what Kubernetes calls NoSchedule.
  effects = { NoSchedule = "NO_SCHEDULE" }

  kubelet = yamldecode(file("${path.module}/../kubelet.yaml"))
}

module "pools" {
  source = "../pools"
  pools  = var.pools

  # GKE puts this on every Arm node.
  tainted_by_cloud = { aarch64 = [{ key = "kubernetes.io/arch", value = "arm64", effect = "NoSchedule" }] }
}

output "pools" {
  description = "The chart's value `pools`: helm install --set-json \"pools=$(tofu output -json pools)\""
  value       = module.pools.pools
}
