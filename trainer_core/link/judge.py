"""A judge endpoint as the platform hands it out."""

from pathlib import Path

from pydantic import Field, FieldSerializationInfo, IPvAnyNetwork, SecretStr, field_serializer, model_validator

from trainer_core.link.base import Message, reveals


class JudgeEndpoint(Message):
    """Address of a judge, its limits and its prices. The key shows in no log."""

    base_url: str | None = None
    """Address of an OpenAI-compatible API up to its version, such as ``https://host/v1``."""
    model: str
    api_key: SecretStr | None = None
    model_dir: Path | None = None
    """A policy folder that an engine of the cluster serves, in place of ``base_url``."""
    networks: tuple[IPvAnyNetwork, ...] | None = None
    """Networks in which it may be beside the public internet; None sets no bounds."""
    max_in_flight: int = Field(32, ge=1, le=1024)
    timeout_s: float = Field(60.0, gt=0.0)
    """Time limit of one try, in seconds."""
    retries: int = Field(3, ge=0)
    """Tries after the first."""
    price_prompt: float | None = None
    """Per million prompt tokens; None when unknown."""
    price_completion: float | None = None
    """Per million completion tokens; None when unknown."""

    @model_validator(mode="after")
    def _has_one_address(self) -> "JudgeEndpoint":
        if (self.base_url is None) == (self.model_dir is None):
            raise ValueError("a judge has either a base_url or a model_dir")
        return self

    @field_serializer("api_key", when_used="json-unless-none")
    def _key(self, key: SecretStr, info: FieldSerializationInfo) -> str:
        """Write the key in clear for the link alone."""
        return key.get_secret_value() if reveals(info.context) else str(key)
