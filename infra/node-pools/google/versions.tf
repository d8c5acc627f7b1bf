terraform {
  required_version = ">= 1.8.0, < 2.0.0"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "7.44.0"
    }
  }
}

provider "google" {
  project = var.project
}
