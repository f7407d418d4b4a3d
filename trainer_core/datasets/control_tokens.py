"""Text in rows that looks like control tokens of a policy. It is data, and is encoded as text."""

import re

PATTERN = (
    r"<\|[A-Za-z0-9_]{1,40}\|>"  # <|im_start|>, <|endoftext|>, <|eot_id|>, Harmony's <|channel|>
    r"|<｜[^｜<>]{1,40}｜>"
    r"|</?(?:think|thinking|tool_call|tool_response|start_of_turn|end_of_turn|bos|eos|pad|unk|s)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|THINK)\]"
)
"""Pattern of control tokens, which RE2 interprets in the same way."""
FOLLOWING = {"<": b"|/tbepus" + "｜".encode()[:1], "[": b"/ISAT"}
"""UTF-8 bytes, one of which follows the character that begins a control token."""
_TOKEN = re.compile(PATTERN)


def control_tokens(text: str) -> list[str]:
    """Parts of ``text`` that look like control tokens of a known family, in order, each once."""
    return list(dict.fromkeys(_TOKEN.findall(text)))
