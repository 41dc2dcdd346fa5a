"""The rules by which the lessons check the answers to their exercises: one module per lesson."""
