"""Types of values that several parts share. Invalid values are refused with a sentence."""

import re
from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class ValuesPart(BaseModel):
    """Base of all values: unknown names are refused, and values are immutable once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _network(text: str) -> str:
    try:
        return str(ip_network(text))
    except ValueError:
        raise ValueError(f"{text!r} is not a network; write one such as 10.0.0.0/8") from None


def _quantity(text: str) -> str:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?", text) or not float(re.sub(r"[^0-9.]", "", text)):
        raise ValueError(f"{text!r} is not a quantity; write one such as 500m, 4, 16Gi or 1Ti")
    return text


_BYTES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def amount(text: str) -> float:
    """The number that a quantity represents: cores, or bytes."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text).groups()  # type: ignore[union-attr]
    return float(number) * (0.001 if unit == "m" else _BYTES.get(unit, 1))


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z]([-a-z0-9]{0,28}[a-z0-9])?", text):
        raise ValueError(f"{text!r} is not a name; use up to 30 lower-case letters, digits and hyphens, a letter first")
    return text


def _label_key(text: str) -> str:
    if not re.fullmatch(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", text):
        raise ValueError(f"{text!r} is not a label key; write one such as nvidia.com/gpu.product")
    return text


def _cron(text: str) -> str:
    if not re.fullmatch(r"(\S+\s+){4}\S+", text):
        raise ValueError(f"{text!r} is not a schedule; write five fields as in cron, such as '15 2 * * *'")
    return text


def _registry(text: str) -> str:
    if "://" in text or text.endswith("/") or not re.fullmatch(r"[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._/-]+)?", text):
        raise ValueError(f"{text!r} is not a registry; write host, port and path without a scheme or trailing slash")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""Name of an object, short enough for the suffixes that Kubernetes and KubeRay add."""
Quantity = Annotated[str, AfterValidator(_quantity), Field(json_schema_extra={"examples": ["500m", "16Gi"]})]
"""An amount as Kubernetes writes it."""
Cidr = Annotated[str, AfterValidator(_network)]
"""A network such as 10.0.0.0/8."""
LabelKey = Annotated[str, AfterValidator(_label_key)]
Cron = Annotated[str, AfterValidator(_cron)]
Registry = Annotated[str, AfterValidator(_registry)]
