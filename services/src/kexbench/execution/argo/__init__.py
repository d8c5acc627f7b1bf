"""Runs jobs as pods of Argo Workflows: what is submitted, what is seen of it, and what is done about it."""
