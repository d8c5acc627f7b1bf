"""Runs jobs as pods of Argo Workflows: submits workflows, observes them, and decides what to do next."""
