"""What every program shares: its start, help, settings that are refused, sweeps, output."""
