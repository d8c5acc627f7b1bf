resource "aws_launch_template" "pool" {
  for_each    = var.pools
  name_prefix = "kexbench-${each.key}-"
  user_data   = base64encode(local.user_data[each.key])

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size           = var.disk_gib
      volume_type           = "gp3"
      encrypted             = true
      delete_on_termination = true
    }
  }

  # No pod can ask for the node's credentials.
  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
}

resource "aws_eks_node_group" "pool" {
  for_each        = var.pools
  cluster_name    = var.cluster_name
  node_group_name = "kexbench-${each.key}"
  node_role_arn   = var.node_role_arn
  subnet_ids      = var.subnet_ids
  ami_type        = local.images[each.value.architecture]
  instance_types  = [each.value.instance_type]
  capacity_type   = "ON_DEMAND"
  labels          = module.pools.labels[each.key]

  launch_template {
    id      = aws_launch_template.pool[each.key].id
    version = aws_launch_template.pool[each.key].latest_version
  }

  dynamic "taint" {
    for_each = module.pools.taints[each.key]
    content {
      key    = taint.value.key
      value  = taint.value.value
      effect = local.effects[taint.value.effect]
    }
  }

  scaling_config {
    desired_size = each.value.nodes
    min_size     = each.value.nodes
    max_size     = each.value.nodes
  }

  update_config {
    max_unavailable = 1
  }
}
