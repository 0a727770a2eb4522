"""The processes that a user really starts."""
