"""The report of a bug: redacted, ready to paste, kept beside the other local state."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation


def write_bug_report(error: BaseException, command: str, invocation: Invocation) -> str:
    """Write the traceback to a file and return its path; never raises, for a bug is being handled."""
    import tempfile
    import traceback

    from memx import __version__
    from memx.redact import PrivacySanitizer

    trace = "".join(traceback.format_exception(error))
    text = f"memx {__version__}\npython {sys.version}\nplatform {sys.platform}\ncommand {command}\n\n{trace}"
    try:
        text = invocation.project.sanitizer.sanitize(text).text
        folder = os.path.join(invocation.project.state_dir, "reports")
        os.makedirs(folder, exist_ok=True)
    except Exception:  # noqa: BLE001 (the report must be written whatever else is broken)
        text = PrivacySanitizer().sanitize(text).text
        folder = tempfile.gettempdir()
    handle, path = tempfile.mkstemp(prefix="memx-report-", suffix=".txt", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
    return path
