"""The store: bullet files, their names, and the one path by which they are written."""
