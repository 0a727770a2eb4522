"""Which module declares which command, so that one call imports one module."""

from __future__ import annotations

MODULES = {
    "init": "setup",
    "doctor": "setup",
    "trust": "setup",
    "reindex": "setup",
    "demo": "demo",
    "add": "bullet",
    "show": "bullet",
    "list": "bullet",
    "edit": "bullet",
    "rm": "bullet",
    "mv": "bullet",
    "lint": "files",
    "fmt": "files",
    "verify": "verify",
    "diff": "diff",
    "promote": "promote",
    "log": "provenance",
    "blame": "provenance",
    "why": "provenance",
    "why-not": "provenance",
    "search": "search",
    "distill": "distill",
    "inbox": "review",
    "review": "review",
    "compare": "curate",
    "conflicts": "curate",
    "decay": "forget",
    "archive": "forget",
    "restore": "forget",
    "fold": "forget",
    "maintain": "maintain",
    "stats": "stats",
    "sync": "sync",
    "useful": "feedback",
    "wrong": "feedback",
}
GROUPS = {
    "hooks": ("hooks", "status", "Install and inspect git hooks."),
    "store": ("stores", "list", "Add, list and sync the stores of other repositories."),
    "config": ("config", "list", "Read and change the configuration."),
}
"""Group name to its module, its default command and its help."""
