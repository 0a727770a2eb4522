"""Small invented sessions, one in each format, that all tell the same story.

A person reports a failing build, the agent runs `make` (fails with exit code 2
where the format can say so), finds the cause and runs `make -j1`, which works.
"""

from __future__ import annotations

import json
from typing import Any

QUESTION = "The build fails on my machine, please look."
CAUSE = "Root cause: two targets write gen.h at once, so make needs -j1."
FAILURE = "gen.h: file truncated"
SUCCESS = "build ok"


def lines(records: list[dict[str, Any]]) -> str:
    """Return the records as JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def claude_code() -> str:
    """Return a Claude Code log."""

    def record(kind: str, number: int, content: Any, **more: Any) -> dict[str, Any]:
        return {
            "type": kind,
            "uuid": f"u{number}",
            "sessionId": "claude-1",
            "cwd": "/home/dev/mill",
            "gitBranch": "main",
            "timestamp": f"2026-05-01T10:00:0{number}Z",
            "message": {"role": kind, "content": content},
            **more,
        }

    return lines(
        [
            {"type": "file-history-snapshot", "messageId": "m"},
            record("user", 1, QUESTION),
            record("assistant", 2, [use("t1", "Bash", {"command": "make"})]),
            record("user", 3, [answer("t1", f"Exit code 2\n{FAILURE}", is_error=True)]),
            record("assistant", 4, [{"type": "thinking", "thinking": "hm"}]),
            record("assistant", 5, [{"type": "text", "text": CAUSE}]),
            record("assistant", 6, [use("t2", "Bash", {"command": "make -j1"})]),
            record("user", 7, [answer("t2", f"{SUCCESS}<system-reminder>be brief</system-reminder>")]),
        ]
    )


def use(identifier: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return a tool_use block."""
    return {"type": "tool_use", "id": identifier, "name": name, "input": values}


def answer(identifier: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a tool_result block."""
    return {"type": "tool_result", "tool_use_id": identifier, "content": text, **more}


def codex() -> str:
    """Return a Codex rollout."""

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": "2026-05-01T10:00:00Z", "type": kind, "payload": payload}

    def said(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
        return line("response_item", {"type": "message", "role": role, "content": content})

    def called(identifier: str, command: str) -> dict[str, Any]:
        arguments = json.dumps({"command": ["bash", "-lc", command]})
        payload = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": identifier}
        return line("response_item", payload)

    def output(identifier: str, text: str) -> dict[str, Any]:
        payload = {"type": "function_call_output", "call_id": identifier, "output": text}
        return line("response_item", payload)

    git = {"branch": "main", "repository_url": "git@git.example.org:dev/mill.git"}
    return lines(
        [
            line("session_meta", {"id": "codex-1", "cwd": "/home/dev/mill", "git": git}),
            said("user", "<environment_context>\n<cwd>/home/dev/mill</cwd>\n</environment_context>"),
            said("user", QUESTION),
            line("event_msg", {"type": "user_message", "message": QUESTION}),
            called("c1", "make"),
            output("c1", json.dumps({"output": FAILURE, "metadata": {"exit_code": 2}})),
            said("assistant", CAUSE),
            called("c2", "make -j1"),
            output("c2", f"Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{SUCCESS}"),
        ]
    )


def _gemini_call(identifier: str, command: str, output: str) -> dict[str, Any]:
    response = {"functionResponse": {"id": identifier, "response": {"output": output}}}
    return {
        "id": identifier,
        "name": "run_shell_command",
        "args": {"command": command},
        "status": "success",
        "result": [response],
    }


def gemini_messages() -> list[dict[str, Any]]:
    """Return the messages of a Gemini session."""
    failed = _gemini_call("g1", "make", f"Output: {FAILURE}\nExit Code: 2\nProcess Group PGID: 7")
    worked = _gemini_call("g2", "make -j1", f"Output: {SUCCESS}\nProcess Group PGID: 8")
    stamp = "2026-05-01T10:00:00Z"
    return [
        {"id": "m1", "timestamp": stamp, "type": "user", "content": [{"text": QUESTION}]},
        {"id": "m2", "timestamp": stamp, "type": "gemini", "content": "", "toolCalls": [failed]},
        {"id": "m3", "timestamp": stamp, "type": "info", "content": "update available"},
        {"id": "m4", "timestamp": stamp, "type": "gemini", "content": CAUSE, "toolCalls": [worked]},
    ]


GEMINI_HEAD = {"sessionId": "gemini-1", "projectHash": "0" * 64, "startTime": "2026-05-01T10:00:00Z"}


def gemini_json() -> str:
    """Return a Gemini session as one object."""
    return json.dumps({**GEMINI_HEAD, "messages": gemini_messages()}, indent=2)


def gemini_jsonl() -> str:
    """Return a Gemini session as lines; the second message is written before it has its call, too."""
    messages = gemini_messages()
    early = {key: value for key, value in messages[1].items() if key != "toolCalls"}
    patch = {"$set": {"lastUpdated": "2026-05-01T10:00:01Z"}}
    return lines([GEMINI_HEAD, messages[0], early, patch, *messages[1:]])


def cline() -> str:
    """Return a Cline history: one array on one line."""
    details = (
        "<environment_details>\n# Current Working Directory (/home/dev/mill) Files\n</environment_details>"
    )

    def message(role: str, *blocks: Any) -> dict[str, Any]:
        parts = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        return {"role": role, "content": parts, "ts": 1_777_630_000_000}

    return json.dumps(
        [
            message("user", f"<task>\n{QUESTION}\n</task>", details),
            message("assistant", use("x1", "execute_command", {"command": "make"})),
            message(
                "user",
                f"[execute_command for 'make'] Result:\nCommand failed with exit code 2.\nOutput:\n{FAILURE}",
                details,
            ),
            message("assistant", CAUSE, use("x2", "execute_command", {"command": "make -j1"})),
            message(
                "user",
                "[execute_command for 'make -j1'] Result:\nCommand executed successfully (exit code 0).\n"
                f"Output:\n{SUCCESS}",
                details,
            ),
        ]
    )


def opencode_parts() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return (message info, parts) of an OpenCode session."""

    def tool(identifier: str, command: str, output: str, code: int) -> dict[str, Any]:
        state = {
            "status": "completed",
            "input": {"command": command},
            "output": output,
            "metadata": {"exit": code},
        }
        return {
            "id": f"prt_{identifier}",
            "type": "tool",
            "tool": "bash",
            "callID": identifier,
            "state": state,
        }

    person = {"id": "msg_1", "role": "user", "time": {"created": 1_777_630_000_000}}
    agent = {"id": "msg_2", "role": "assistant", "path": {"cwd": "/home/dev/mill"}}
    return [
        (
            person,
            [
                {"id": "prt_1", "type": "text", "text": QUESTION},
                {"id": "prt_2", "type": "text", "text": "file body", "synthetic": True},
            ],
        ),
        (
            agent,
            [
                {"id": "prt_3", "type": "step-start"},
                tool("4", "make", FAILURE, 2),
                {"id": "prt_5", "type": "text", "text": CAUSE},
                tool("6", "make -j1", SUCCESS, 0),
            ],
        ),
    ]


OPENCODE_INFO = {
    "id": "ses_1",
    "projectID": "global",
    "directory": "/home/dev/mill",
    "time": {"created": 1_777_630_000_000},
}


def opencode() -> str:
    """Return an OpenCode export."""
    messages = [{"info": info, "parts": parts} for info, parts in opencode_parts()]
    return json.dumps({"info": OPENCODE_INFO, "messages": messages}, indent=1)


def copilot_cli() -> str:
    """Return a Copilot CLI log."""

    def event(number: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-05-01T10:00:00Z"}

    def ran(number: int, command: str, output: str, code: int) -> list[dict[str, Any]]:
        call = {"toolCallId": f"c{number}", "toolName": "bash", "arguments": {"command": command}}
        result = {"content": f"{output}\n<exited with exit code {code}>"}
        done = {"toolCallId": f"c{number}", "success": code == 0, "result": result}
        return [
            event(number, "tool.execution_start", call),
            event(number + 1, "tool.execution_complete", done),
        ]

    context = {"cwd": "/home/dev/mill", "branch": "main", "repository": "dev/mill", "hostType": "github"}
    return lines(
        [
            event(1, "session.start", {"sessionId": "copilot-1", "context": context}),
            event(2, "user.message", {"content": QUESTION, "transformedContent": f"<x/>{QUESTION}"}),
            *ran(3, "make", FAILURE, 2),
            event(5, "assistant.message", {"content": CAUSE, "toolRequests": []}),
            *ran(6, "make -j1", SUCCESS, 0),
        ]
    )


def aider() -> str:
    """Return an Aider history."""
    return (
        "\n# aider chat started at 2026-05-01 10:00:00\n\n> Aider v0.86.1  \n> Repo-map: using 4096 tokens  \n\n"
        f"#### {QUESTION}  \n\n#### /run make  \n> {FAILURE}  \n\n{CAUSE}\n\n#### /run make -j1  \n> {SUCCESS}  \n"
    )


def specstory() -> str:
    """Return a SpecStory file of version 2."""

    def shell(command: str, output: str) -> str:
        return (
            '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n'
            "<summary>Tool use: **Bash**</summary>\n\n"
            f"`{command}`\n\n```text\n{output}\n```\n\n</details></tool-use>\n\n"
        )

    return (
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n"
        "<!-- Claude Code Session spec-story-1 (2026-05-01 10:00:00Z) -->\n\n"
        f"_**User (2026-05-01 10:00:00Z)**_\n\n{QUESTION}\n\n---\n\n"
        "_**Agent (model 2026-05-01 10:00:05Z)**_\n\n<think><details>"
        "<summary>Thought</summary>\nhm\n</details></think>\n\n"
        f"{shell('make', FAILURE)}{CAUSE}\n\n{shell('make -j1', SUCCESS)}---\n\n"
    )


def swe_agent() -> str:
    """Return a SWE-agent trajectory."""
    steps = [
        {"thought": "Let me build.", "action": "make\n", "observation": FAILURE, "state": "{}"},
        {"thought": CAUSE, "action": "make -j1\n", "observation": SUCCESS, "state": "{}"},
    ]
    history = [{"role": "system", "content": "prompt", "agent": "main"}]
    return json.dumps({"environment": "swe_main", "trajectory": steps, "history": history, "info": {}})


def openai_list() -> list[dict[str, Any]]:
    """Return OpenAI-style messages."""

    def called(identifier: str, command: str) -> dict[str, Any]:
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": identifier, "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    return [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        called("o1", "make"),
        {"role": "tool", "tool_call_id": "o1", "content": f"{FAILURE}\nExit code: 2"},
        {"role": "assistant", "content": CAUSE},
        called("o2", "make -j1"),
        {"role": "tool", "tool_call_id": "o2", "content": SUCCESS},
    ]


def openai_messages() -> str:
    """Return OpenAI-style messages inside an object."""
    return json.dumps({"messages": openai_list()}, indent=2)


def openai_jsonl() -> str:
    """Return OpenAI-style messages one a line."""
    return lines(openai_list())


def plain_md() -> str:
    """Return a conversation as plain Markdown."""
    return (
        f"# Conversation\n\n## User (10:00 UTC)\n\n{QUESTION}\n\n## Assistant (10:01 UTC)\n\n"
        f"- **Used Bash**: make\n\n{CAUSE}\n\n- **Used Bash**: make -j1\n"
    )


ALL = {
    "claude_code": claude_code,
    "codex": codex,
    "gemini-json": gemini_json,
    "gemini-jsonl": gemini_jsonl,
    "cline": cline,
    "opencode": opencode,
    "copilot_cli": copilot_cli,
    "aider": aider,
    "specstory": specstory,
    "swe_agent": swe_agent,
    "openai_messages": openai_messages,
    "openai_messages-jsonl": openai_jsonl,
    "plain_md": plain_md,
}
