locals {
  key = "kexbench.dev/pool"
}

output "labels" {
  description = "Of the nodes of each pool: what the chart selects them by."
  value       = { for name in keys(var.pools) : name => { (local.key) = name } }
}

output "taints" {
  description = "Of the nodes of each pool: nothing else is to run on them."
  value       = { for name in keys(var.pools) : name => [{ key = local.key, value = name, effect = "NoSchedule" }] }
}

output "pools" {
  description = "The chart's value `pools`."
  value = [
    for name, pool in var.pools : {
      name         = name
      architecture = pool.architecture
      nodeSelector = { (local.key) = name }
      tolerations = [
        for taint in concat(
          [{ key = local.key, value = name, effect = "NoSchedule" }],
          lookup(var.tainted_by_cloud, pool.architecture, []),
        ) : merge(taint, { operator = "Equal" })
      ]
      cpus   = pool.cpus
      memory = pool.memory
      notes  = pool.notes
    }
  ]
}
