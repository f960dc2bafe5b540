"""Run folders: whose they are, what became of them, sweeps of them, and where their numbers come from."""
