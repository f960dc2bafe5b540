"""Objects from config nodes: what a target may name, whether its arguments suit it, and building it."""
