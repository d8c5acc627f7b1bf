variable "pools" {
  description = "What the chart and the nodes have to agree on, by the pool's name, which specs use."
  type = map(object({
    architecture = string
    cpus         = number
    memory       = string
    notes        = string
  }))

  validation {
    condition     = alltrue([for name in keys(var.pools) : can(regex("^[a-z]([a-z0-9-]{0,26}[a-z0-9])?$", name))])
    error_message = "A pool's name is a label and part of a node group's name: at most 28 lower-case letters, digits and hyphens."
  }
  validation {
    condition     = alltrue([for pool in values(var.pools) : contains(["x86_64", "aarch64"], pool.architecture)])
    error_message = "An architecture is x86_64 or aarch64, as the kernel names it."
  }
  validation {
    condition     = alltrue([for pool in values(var.pools) : pool.cpus >= 1 && floor(pool.cpus) == pool.cpus])
    error_message = "A job's pod has whole CPUs, one at least: others are never its own."
  }
}

variable "tainted_by_cloud" {
  description = "Taints that the cloud adds by itself to nodes of an architecture."
  type        = map(list(object({ key = string, value = string, effect = string })))
  default     = {}
}
