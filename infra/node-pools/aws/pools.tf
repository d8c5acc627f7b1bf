# Nothing here needs a cloud: the tests evaluate it as it is.

locals {
  # As the node group's API names what Kubernetes calls NoSchedule.
  effects = { NoSchedule = "NO_SCHEDULE" }
  images  = { x86_64 = "AL2023_x86_64_STANDARD", aarch64 = "AL2023_ARM_64_STANDARD" }

  kubelet = yamldecode(file("${path.module}/../kubelet.yaml"))

  # What nodes of this image are told at their start. EKS adds how to join the cluster.
  user_data = {
    for name, pool in var.pools : name => join("\n", [
      "MIME-Version: 1.0",
      "Content-Type: multipart/mixed; boundary=\"kexbench\"",
      "",
      "--kexbench",
      "Content-Type: application/node.eks.aws",
      "",
      yamlencode({
        apiVersion = "node.eks.aws/v1alpha1"
        kind       = "NodeConfig"
        spec = { kubelet = { config = {
          cpuManagerPolicy        = local.kubelet.cpuManagerPolicy
          cpuManagerPolicyOptions = local.kubelet.cpuManagerPolicyOptions
          reservedSystemCPUs      = pool.reserved_cpus
          # The image names cgroups for what it reserves by amounts; the kubelet does not start with both.
          kubeReservedCgroup   = ""
          systemReservedCgroup = ""
        } } }
      }),
      "--kexbench--",
      "",
    ])
  }
}

module "pools" {
  source = "../pools"
  pools  = var.pools
}

output "pools" {
  description = "The chart's value `pools`: helm install --set-json \"pools=$(tofu output -json pools)\""
  value       = module.pools.pools
}
