"""What runs in the pods of a cluster: it fetches what a job needs, measures, uploads; or it builds a kit."""
