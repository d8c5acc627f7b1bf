variable "project" {
  description = "The project that the cluster is in."
  type        = string
}

variable "location" {
  description = "Region or zone of the cluster."
  type        = string
}

variable "cluster" {
  description = "Name of the GKE cluster that the nodes join; a Standard one."
  type        = string
}

variable "zone" {
  description = "Where the nodes are. All of a pool are in one zone, which makes it likelier that they have one CPU model."
  type        = string
}

variable "service_account" {
  description = "Service account of the nodes, by its address."
  type        = string
}

variable "disk_gib" {
  description = "Size of a node's disk. Images take 2 GiB, and building a kit up to 20."
  type        = number
  default     = 60
}

variable "pools" {
  description = <<-TEXT
    Pools by their names, which specs use: a node pool each, of one machine type.
    two_threads_per_core: the machine type has them, and the second ones are turned off. cpus: whole CPUs of a job's pod.
  TEXT
  type = map(object({
    machine_type         = string
    architecture         = string
    two_threads_per_core = bool
    cpus                 = number
    disk_type            = string
    memory               = optional(string, "1Gi")
    nodes                = optional(number, 2)
    notes                = optional(string, "")
  }))
  default = {
    axion = {
      machine_type         = "c4a-standard-8"
      architecture         = "aarch64"
      two_threads_per_core = false
      cpus                 = 2
      disk_type            = "hyperdisk-balanced"
      notes                = "Google Axion (Neoverse V2)"
    }
    xeon4 = {
      machine_type         = "c3-standard-8"
      architecture         = "x86_64"
      two_threads_per_core = true
      cpus                 = 2
      disk_type            = "pd-balanced"
      notes                = "4th generation Intel Xeon (Sapphire Rapids)"
    }
    epyc4 = {
      machine_type         = "c3d-standard-8"
      architecture         = "x86_64"
      two_threads_per_core = true
      cpus                 = 2
      disk_type            = "pd-balanced"
      notes                = "4th generation AMD EPYC (Genoa)"
    }
  }
}
