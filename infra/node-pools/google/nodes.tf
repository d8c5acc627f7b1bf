resource "google_container_node_pool" "pool" {
  for_each       = var.pools
  name           = "kexbench-${each.key}"
  cluster        = var.cluster
  location       = var.location
  node_locations = [var.zone]
  node_count     = each.value.nodes

  node_config {
    machine_type    = each.value.machine_type
    disk_type       = each.value.disk_type
    disk_size_gb    = var.disk_gib
    image_type      = "COS_CONTAINERD"
    service_account = var.service_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    labels          = module.pools.labels[each.key]

    # GKE reserves CPUs for the system by itself, and has no option for whole cores only; hence the next block.
    kubelet_config {
      cpu_manager_policy = local.kubelet.cpuManagerPolicy
    }

    dynamic "advanced_machine_features" {
      for_each = each.value.two_threads_per_core ? [1] : []
      content {
        threads_per_core = 1
      }
    }

    dynamic "taint" {
      for_each = module.pools.taints[each.key]
      content {
        key    = taint.value.key
        value  = taint.value.value
        effect = local.effects[taint.value.effect]
      }
    }
  }

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  upgrade_settings {
    max_surge       = 0
    max_unavailable = 1
  }
}
