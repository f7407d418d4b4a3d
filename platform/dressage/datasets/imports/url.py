"""One file at a URL that the operator allows. Redirects are followed if their targets are allowed as well."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

import httpx2
from django.conf import settings

from dressage.datasets.imports.allowed_urls import How, how_allowed, plain
from dressage.imports.connections import ClosedAddress, addresses_of, guarded
from dressage.imports.remote import ImportRefused, Listing, NetworkTrouble, RemoteFile, Tick
from trainer_core.networks import may_ask

PIECE_BYTES = 1 << 20
MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (408, 425, 429)


class UrlSource:
    """The current content at one URL."""

    def __init__(self, url: str) -> None:
        """
        Args:
            url: the URL. Raises ImportRefused if it is not allowed.
        """
        _require(url)
        self._url, self._host = url, urlsplit(url).netloc

    def listing(self) -> Listing:
        """The one file, with its size and entity tag."""
        with self._asked({}) as answer:
            size = answer.headers.get("Content-Length", "")
            if not size.isdigit():
                raise ImportRefused(f"{self._host} does not tell the size of the file, so it cannot be bounded.")
            name = PurePosixPath(unquote(urlsplit(self._url).path)).name[:200] or "file"
            return Listing({name: RemoteFile(name, int(size), None, _mark(answer))}, "", "")

    def described(self, file: RemoteFile) -> RemoteFile:
        """The file itself, since there is no checksum."""
        return file

    def fetch(self, file: RemoteFile, target: Path, tick: Tick) -> None:
        """Append to ``target`` the missing bytes, if the server still has the version that was listed."""
        there = target.stat().st_size if target.is_file() else 0
        if there == file.size:
            return
        # Without a strong entity tag there is no way to check that the rest belongs to the same version.
        ranges = {"Range": f"bytes={there}-", "If-Range": file.tag} if there and file.tag else {}
        with self._asked(ranges) as answer:
            if _mark(answer) != file.tag:
                raise ImportRefused(
                    f"The file at {self._host} was replaced while it was fetched. Retry fetches it anew."
                )
            with target.open("ab" if answer.status_code == 206 else "wb") as out:
                for chunk in answer.iter_raw(PIECE_BYTES):
                    out.write(chunk)
                    if out.tell() > file.size:
                        raise ImportRefused(f"{self._host} sends more than the size that it has told.")
                    tick()
                if out.tell() != file.size:
                    raise NetworkTrouble(f"{self._host} sent less than the file has.")

    @contextmanager
    def _asked(self, headers: dict[str, str]) -> Iterator[httpx2.Response]:
        """The response after redirects. Its content has not been read yet."""
        headers = {"Accept-Encoding": "identity", "User-Agent": "dressage", **headers}
        url = self._url
        try:
            for _ in range(MAX_REDIRECTS + 1):
                how = _require(url, of=None if url == self._url else self._host)
                with _client(how) as client, client.stream("GET", url, headers=headers) as answer:
                    place = answer.headers.get("Location")
                    if answer.status_code not in _REDIRECTS or not place:
                        self._require_content(answer.status_code)
                        yield answer
                        return
                    url = urljoin(url, place)
        except ClosedAddress as error:
            raise ImportRefused(
                f"{error} is not on the public internet. Whoever runs this installation may allow it by naming this "
                "host in DATASET_IMPORT_URLS."
            ) from error
        except httpx2.InvalidURL as error:
            raise ImportRefused(f"{self._host} leads to something that is no address.") from error
        except httpx2.ProxyError as error:
            raise NetworkTrouble("The proxy of this installation does not let the connection through.") from error
        except httpx2.HTTPError as error:
            raise NetworkTrouble(f"The connection to {self._host} failed ({type(error).__name__}).") from error
        raise ImportRefused(f"{self._host} redirects more than {MAX_REDIRECTS} times.")

    def _require_content(self, status: int) -> None:
        if status in (200, 206):
            return
        if status >= 500 or status in _PASSING:
            raise NetworkTrouble(f"{self._host} answers {status} for now.")
        if status in (401, 403):
            raise ImportRefused(f"{self._host} answers {status}: it gives the file only to who signs in.")
        raise ImportRefused(f"{self._host} answers {status}. Check the address.")


def _require(url: str, *, of: str | None = None) -> How:
    """Rule by which the URL is allowed. Raises ImportRefused if it is not. ``of`` is the URL that redirected to it."""
    how = how_allowed(url, settings.DATASET_IMPORT_URLS)
    if how is None:
        who = f"{of} redirects to {plain(url)[:300]}, which" if of else plain(url)[:300]
        raise ImportRefused(
            f"{who} is not among the addresses that datasets may be imported from. Whoever runs this installation may "
            "allow it by DATASET_IMPORT_URLS."
        )
    return how


def _client(how: How) -> httpx2.Client:
    def open_addresses(host: str, port: int) -> list[str]:
        found = addresses_of(host, port)
        return found if how == "host" else [one for one in found if may_ask(one, settings.IMPORT_NETWORKS)]

    return guarded(httpx2.Client(follow_redirects=False, timeout=30.0), open_addresses)


def _mark(answer: httpx2.Response) -> str:
    """The strong entity tag, which allows requests for the rest of a file. Empty if there is none."""
    mark: str = answer.headers.get("ETag", "")
    return mark if mark.startswith('"') else ""
