variable "region" {
  description = "Where the cluster is."
  type        = string
}

variable "cluster_name" {
  description = "Name of the EKS cluster that the nodes join."
  type        = string
}

variable "node_role_arn" {
  description = "IAM role of the nodes."
  type        = string
}

variable "subnet_ids" {
  description = "Subnets of the nodes. Those of one availability zone make it likelier that all nodes of a pool have one CPU model."
  type        = list(string)
}

variable "disk_gib" {
  description = "Size of a node's disk. Images take 2 GiB, and building a kit up to 20."
  type        = number
  default     = 60
}

variable "pools" {
  description = <<-TEXT
    Pools by their names, which specs use: a node group each, of one instance type.
    threads_per_core: as the instance type has them, 1 or 2. cpus: whole CPUs of a job's pod, whole cores too.
    reserved_cpus: what is kept for everything else on a node; both threads of a core, where it has two.
  TEXT
  type = map(object({
    instance_type    = string
    architecture     = string
    threads_per_core = number
    cpus             = number
    reserved_cpus    = string
    memory           = optional(string, "1Gi")
    nodes            = optional(number, 2)
    notes            = optional(string, "")
  }))
  default = {
    graviton4 = {
      instance_type    = "c8g.2xlarge"
      architecture     = "aarch64"
      threads_per_core = 1
      cpus             = 2
      reserved_cpus    = "0"
      notes            = "AWS Graviton4 (Neoverse V2)"
    }
    xeon4 = {
      instance_type    = "c7i.2xlarge"
      architecture     = "x86_64"
      threads_per_core = 2
      cpus             = 2
      reserved_cpus    = "0,4" # the two threads of the first of four cores
      notes            = "4th generation Intel Xeon (Sapphire Rapids)"
    }
    epyc4 = {
      instance_type    = "c7a.2xlarge"
      architecture     = "x86_64"
      threads_per_core = 1
      cpus             = 2
      reserved_cpus    = "0"
      notes            = "4th generation AMD EPYC (Genoa)"
    }
  }

  validation {
    condition     = alltrue([for pool in values(var.pools) : pool.cpus % pool.threads_per_core == 0])
    error_message = "The kubelet hands out whole cores only: cpus must be a multiple of threads_per_core."
  }
}
