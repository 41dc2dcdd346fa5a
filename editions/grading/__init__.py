"""What `make grade` is made of: reading hand-ins, cutting lessons, running strangers' code, writing pages."""
