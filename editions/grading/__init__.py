"""What `make grade` is made of: reading submissions, cutting lessons, running strangers' code, writing feedback."""
