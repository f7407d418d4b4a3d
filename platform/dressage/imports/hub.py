"""Repositories of the Hugging Face hub or a mirror of it, accessed with the hub's own client."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from huggingface_hub import DatasetInfo, HfApi, ModelInfo, hf_hub_url
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import build_hf_headers

from dressage.imports.connections import ClosedAddress
from dressage.imports.hub_connections import use_guarded_connections
from dressage.imports.remote import (
    Checksum,
    ImportRefused,
    Listing,
    NetworkTrouble,
    RemoteFile,
    Tick,
)

_MAX_FILE_BYTES = 50_000_000_000
"""Maximum size of a file that the hub serves over plain HTTP."""
_PASSING = (408, 425, 429)


class HubSource:
    """One repository at one revision."""

    def __init__(
        self, repository: str, revision: str, token: str | None, *, kind: Literal["model", "dataset"] = "model"
    ) -> None:
        """
        Args:
            repository: its name, such as ``Qwen/Qwen3-0.6B``.
            revision: a branch, tag or commit; empty for the main branch.
            token: the team's token; None for anonymous access. Tokens from the operator's environment are never sent.
            kind: kind of repository on the hub. For datasets, files in subfolders are listed as well.
        """
        _guard_once()
        self._repository, self._revision, self._token, self._kind = repository, revision, token, kind
        self._api = HfApi(endpoint=settings.HUB_ENDPOINT, token=token or False)

    def listing(self) -> Listing:
        """The files of the commit that the revision points to now."""
        with self._told():
            info = self._info(revision=self._revision or None, files_metadata=True, timeout=30.0)
        if not info.sha:
            raise ImportRefused(f"{self._host} does not report the commit of a revision, as a hub must.")
        self._revision = info.sha
        files = {file.name: file for file in _files(info, folders=self._kind == "dataset")}
        card: dict[str, Any] = info.card_data.to_dict() if info.card_data else {}
        return Listing(files, info.sha, _licence(card), card)

    def _info(self, **options: Any) -> ModelInfo | DatasetInfo:
        ask = self._api.model_info if self._kind == "model" else self._api.dataset_info
        return ask(self._repository, **options)

    def described(self, file: RemoteFile) -> RemoteFile:
        """The file itself, since the listing contains checksums."""
        return file

    def fetch(self, file: RemoteFile, target: Path, tick: Tick) -> None:
        """Append to ``target`` the missing bytes of the file, from the listed commit."""
        if file.size > _MAX_FILE_BYTES:
            raise ImportRefused(
                f"{file.name} has more than 50 GB in one piece, which the hub does not serve over HTTP. Save it in"
                " smaller shards (max_shard_size of save_pretrained)."
            )
        url = hf_hub_url(
            self._repository,
            file.name,
            repo_type=self._kind,
            revision=self._revision,
            endpoint=settings.HUB_ENDPOINT,
        )
        headers = build_hf_headers(token=self._token or False, headers={"Accept-Encoding": "identity"})
        with target.open("ab") as out, self._told():
            http_get(
                url,
                out,
                resume_size=out.tell(),
                headers=headers,
                expected_size=file.size,
                displayed_filename=file.name,
                tqdm_class=_bar(tick),
            )

    @property
    def _example(self) -> str:
        return "Qwen/Qwen3-0.6B" if self._kind == "model" else "openai/gsm8k"

    @property
    def _host(self) -> str:
        return urlsplit(settings.HUB_ENDPOINT).netloc

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Converts the client's errors to ours, with messages that contain no token and no signed URL."""
        try:
            yield
        except GatedRepoError as error:
            raise ImportRefused(self._gated()) from error
        except DisabledRepoError as error:
            what = "policy" if self._kind == "model" else "dataset"
            raise ImportRefused(f"{self._host} has disabled {self._repository}. Choose another {what}.") from error
        except RepositoryNotFoundError as error:
            raise ImportRefused(self._absent()) from error
        except RevisionNotFoundError as error:
            raise ImportRefused(
                f"{self._repository} has no revision {self._revision!r}. Name a branch, a tag or a whole commit hash, "
                "or leave it empty for the main branch."
            ) from error
        except EntryNotFoundError as error:
            raise ImportRefused("A listed file no longer exists. Try again, or name another revision.") from error
        except HFValidationError as error:
            raise ImportRefused(
                f"{self._repository!r} is not a repository name: use owner/name, such as {self._example}."
            ) from error
        except HfHubHTTPError as error:
            raise self._by_status(error.response.status_code) from error
        except OfflineModeIsEnabled as error:
            raise ImportRefused("The hub's client may not use the network (HF_HUB_OFFLINE).") from error
        except ClosedAddress as error:
            raise ImportRefused(
                f"{self._host} redirects to {error}, which is not on the public internet. The operator may allow it"
                " with IMPORT_NETWORKS."
            ) from error
        except httpx2.ProxyError as error:
            raise NetworkTrouble("The proxy of this installation blocks the connection.") from error
        except httpx2.HTTPError as error:
            raise NetworkTrouble(f"The connection to {self._host} failed ({type(error).__name__}).") from error
        except OSError as error:
            if error.errno is not None:  # a disk error, not a network error
                raise
            raise NetworkTrouble(f"{self._host} sent only part of the file.") from error

    def _by_status(self, status: int) -> Exception:
        if status == 401:
            return ImportRefused(
                f"{self._host} refuses the team's token: it has expired or was revoked. An admin enters a new one."
            )
        if status == 403:
            return ImportRefused(
                f"The team's token may not read {self._repository}. Give it read access to gated and private"
                " repositories, or have an admin enter another one."
            )
        if status >= 500 or status in _PASSING:
            return NetworkTrouble(f"{self._host} currently answers {status}.")
        return ImportRefused(f"{self._host} answers {status}. Check the name and the revision.")

    def _gated(self) -> str:
        page = f"{settings.HUB_ENDPOINT}/{'datasets/' if self._kind == 'dataset' else ''}{self._repository}"
        accept = f"Accept its conditions at {page} with the account of the token"
        if self._token is None:
            return f"{self._repository} is gated. {accept}, and have an admin enter that token for the team."
        return f"{self._repository} is gated, and the team's token has no access yet. {accept}, then retry."

    def _absent(self) -> str:
        named = f"repository {self._repository}" if self._kind == "model" else f"dataset {self._repository}"
        seen = f"{self._host} has no {named} that "
        if self._token is None:
            return (
                f"{seen}the public may see. Check the name; for a private one have an admin enter a token for the team."
            )
        return f"{seen}the team's token may see. Check the name and the token's permissions."


@cache
def _guard_once() -> None:
    use_guarded_connections()


def _files(info: ModelInfo | DatasetInfo, *, folders: bool) -> Iterator[RemoteFile]:
    for entry in info.siblings or ():
        if "/" in entry.rfilename and not folders:
            continue
        if entry.size is None:
            raise ImportRefused("The hub does not report file sizes. If it is a mirror, ask its operator.")
        checksum = None
        if entry.lfs is not None:
            checksum = Checksum("sha256", entry.lfs.sha256)
        elif entry.blob_id:
            checksum = Checksum("git", entry.blob_id)
        yield RemoteFile(entry.rfilename, entry.size, checksum)


def _licence(card: dict[str, Any]) -> str:
    """The licence named by the repository's card."""
    named = card.get("license_name") if card.get("license") == "other" else card.get("license")
    if isinstance(named, list):
        named = ", ".join(str(one) for one in named)
    return str(named or "")[:200]


class _Bar:
    """A progress bar with the client's interface, which forwards progress to a callback."""

    def __init__(self, tick: Tick) -> None:
        self._tick = tick

    def update(self, count: int) -> None:
        self._tick()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _bar(tick: Tick) -> Any:
    """A factory that replaces the client's progress bar class."""
    return lambda **options: _Bar(tick)
