"""An LLM behind a command: the prompt on standard input, the answer on standard output."""

from __future__ import annotations

import os
import signal
import subprocess

from memx.reflector.llm.caller import estimated
from memx.reflector.llm.port import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.reflector.llm.port import Answer, Prompt

_LONGEST_BYTES = 1 << 20


class CommandModel:
    """Runs a command such as `claude -p` for each prompt, in a process group that ends with the timeout."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: str) -> None:
        """Take the command as a list, never for a shell, and where it runs."""
        self._command = list(command)
        self._environ = dict(environ)
        self._cwd = cwd
        self.name = " ".join(os.path.basename(part) if not at else part for at, part in enumerate(command))[
            :80
        ]

    def ask(self, prompt: Prompt, timeout_s: float) -> Answer:
        """Run the command; raise LlmError when it is missing, slow, or fails."""
        data = f"{prompt.system}\n\n{prompt.text}\n".encode("utf-8", "replace")
        try:
            process = subprocess.Popen(
                self._command,
                cwd=self._cwd,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            what = f"cannot run {self._command[0]} ({error.strerror})"
            raise failure(what, final=True, hint="memx config get llm.command") from error
        try:
            out, _ = process.communicate(data, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise failure(
                f"{self.name} did not answer within {timeout_s:g} seconds", transient=True
            ) from error
        except OSError as error:
            _end(process)
            raise failure(f"{self.name} broke off ({error.strerror})", transient=True) from error
        if process.returncode:
            raise failure(f"{self.name} ended with exit code {process.returncode}", transient=True)
        return estimated(prompt, out[:_LONGEST_BYTES].decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and what it started."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            process.kill()
    else:
        process.kill()
    process.wait()
