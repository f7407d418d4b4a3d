"""An authenticator in software: what a browser answers for a device, and what a liar would."""

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import bytes_to_base64url, encode_cbor

ORIGIN, RP = "http://localhost:8600", "localhost"
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass
class Device:
    """A device with one passkey."""

    origin: str = ORIGIN
    rp: str = RP
    flags: int = PRESENT | VERIFIED
    count: int = 0
    counts: bool = True
    handle: str = ""
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    id: bytes = field(default_factory=lambda: os.urandom(16))

    def create(self, options: dict[str, Any], **client: Any) -> dict[str, Any]:
        """The answer to creation options. ``client`` are members of the client's data that differ."""
        self.handle = options["user"]["id"]
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + encode_cbor(cose)
        data = self._data(self.flags | ATTESTED) + attested
        return self._answer(
            {
                "clientDataJSON": bytes_to_base64url(self._client("webauthn.create", options, client)),
                "attestationObject": bytes_to_base64url(encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})),
            }
        )

    def get(self, options: dict[str, Any], **client: Any) -> dict[str, Any]:
        """The answer to request options."""
        self.count += self.counts
        said, data = self._client("webauthn.get", options, client), self._data(self.flags)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ECDSA(SHA256()))
        return self._answer(
            {
                "clientDataJSON": bytes_to_base64url(said),
                "authenticatorData": bytes_to_base64url(data),
                "signature": bytes_to_base64url(signature),
                "userHandle": self.handle,
            }
        )

    def _client(self, kind: str, options: dict[str, Any], other: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False, **other}
        return json.dumps(said).encode()

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _answer(self, response: dict[str, Any]) -> dict[str, Any]:
        name = bytes_to_base64url(self.id)
        return {"id": name, "rawId": name, "type": "public-key", "response": response, "clientExtensionResults": {}}
