"""The only place that runs git: discovery, history, hooks, configuration, provenance."""

from __future__ import annotations
