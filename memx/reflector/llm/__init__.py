"""What an LLM adds to the rules: a second opinion on candidates, or lessons from whole sessions.

Nothing here is imported before a model or a command was configured.
"""

from __future__ import annotations
