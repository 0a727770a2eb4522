"""The commands: one file a group, declared once."""
