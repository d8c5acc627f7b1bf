"""Alerts: screening of ended runs, confirmation runs, recoveries and stale specs."""
