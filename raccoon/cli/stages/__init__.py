"""The stages of one command: composed and checked together, run one after the other, drawn together in a report."""
