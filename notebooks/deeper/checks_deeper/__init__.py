"""The rules by which the deeper notebooks check the answers to their exercises: one module per notebook."""
