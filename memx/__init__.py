"""memx: a team's memory that lives in its repository."""

__version__ = "0.1.0"
