"""What runs in the pods of a cluster: it measures a job, from fetching to upload; builds a kit; or asks for a run."""
