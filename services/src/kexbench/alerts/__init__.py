"""From runs that ended to alerts: what is suspected, what confirms it, what is fixed, and which specs are stale."""
