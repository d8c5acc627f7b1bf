"""The program in the pods of a cluster: it fetches, measures and uploads a job, builds a kit, or requests a run."""
