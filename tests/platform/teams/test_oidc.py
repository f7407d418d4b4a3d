"""Sign-in with an OpenID Connect provider: a real one, and one that lies."""

import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from joserfc import jws, jwt
from joserfc.jwk import OctKey, RSAKey
from rest_framework.test import APIClient

from dressage.config import Config
from dressage.teams.models import AccountEvent, AuditEntry, ExternalIdentity, User
from tests.platform.conftest import PASSWORD
from tests.platform.teams.authenticator import Device
from tests.platform.teams.test_passkeys import register

FRONTEND = Path(__file__).parents[3] / "frontend"
BEGIN, CALLBACK, SESSION = "/api/v1/session/oidc", "/api/v1/session/oidc/callback", "/api/v1/session"
HOME = "http://localhost:8600"
CLIENT, SECRET = "dressage", "a secret of the client"


@pytest.fixture(autouse=True)
def configured(settings: Any) -> None:
    settings.PUBLIC_URL, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = HOME, CLIENT, SECRET
    settings.OIDC_DOMAINS, settings.OIDC_NAME = frozenset(), "Example"


@pytest.fixture(scope="module")
def real_issuer() -> Iterator[str]:
    command = ["node", "scripts/test-provider.mjs", HOME + CALLBACK]
    with subprocess.Popen(command, cwd=FRONTEND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as node:
        assert node.stdout is not None
        yield next(line.strip() for line in node.stdout if line.startswith("http"))
        node.terminate()


@pytest.fixture
def real(settings: Any, real_issuer: str) -> str:
    settings.OIDC_ISSUER = real_issuer
    return real_issuer


def owner(make_user: Callable[..., User], email: str = "alice@example.com", *, proven: bool = True) -> User:
    user = make_user(email=email)
    User.objects.filter(pk=user.pk).update(address_proven=proven)
    return user


def begin(client: APIClient) -> str:
    answer = client.post(BEGIN)
    assert answer.status_code == 200, answer.content
    url: str = answer.json()["url"]
    return url


def go_through(url: str, name: str) -> str:
    """Sign in at the real provider as ``name``, as a browser would; the address to which it sends back."""
    browser, form = requests.Session(), None
    for _ in range(12):
        answer = browser.request("POST" if form else "GET", url, data=form, allow_redirects=False, timeout=10)
        if answer.is_redirect:
            url, form = requests.compat.urljoin(url, answer.headers["Location"]), None
            if url.startswith(HOME):
                return url
            continue
        action = re.search(r'action="([^"]+)"', answer.text)
        assert action, answer.text
        login = 'value="login"' in answer.text
        url = requests.compat.urljoin(url, action[1])
        form = {"prompt": "login", "login": name, "password": "x"} if login else {"prompt": "consent"}
    raise AssertionError("the provider never sent back")


def come_back(client: APIClient, url: str) -> str:
    """Where the callback sends the browser."""
    answer = client.get(url.removeprefix(HOME))
    assert answer.status_code == 302
    return str(answer["Location"])


def sign_in(client: APIClient, name: str) -> str:
    return come_back(client, go_through(begin(client), name))


def who(client: APIClient) -> str | None:
    user = client.get(SESSION).json()["user"]
    return user and user["email"]


def test_the_first_sign_in_binds_and_the_second_finds(real: str, make_user: Callable[..., User]) -> None:
    user = owner(make_user)
    first, second = APIClient(), APIClient()
    assert sign_in(first, "alice@example.com") == "/runs"
    assert who(first) == user.email
    bound = ExternalIdentity.objects.get()
    assert (bound.user, bound.issuer, bound.subject) == (user, real, "alice@example.com")
    User.objects.filter(pk=user.pk).update(email="alice@new.example", address_proven=False)
    assert sign_in(second, "alice@example.com") == "/runs"
    assert who(second) == "alice@new.example"
    assert ExternalIdentity.objects.count() == 1
    assert AccountEvent.objects.filter(action="account.identity_bound").count() == 1
    assert AuditEntry.objects.filter(action="account.identity_bound").count() == 1


def test_what_the_provider_is_asked(real: str, db: None) -> None:
    client = APIClient()
    asked = parse_qs(urlsplit(begin(client)).query)
    assert (asked["response_type"], asked["code_challenge_method"]) == (["code"], ["S256"])
    assert asked["redirect_uri"] == [HOME + CALLBACK] and len(asked["state"][0]) >= 20 and len(asked["nonce"][0]) >= 20
    assert asked["scope"] == ["openid email"]
    assert client.get(SESSION).json()["provider"] == "Example"


@pytest.mark.parametrize(
    ("name", "proven", "problem"),
    [
        ("unverified+alice@example.com", True, "email_not_verified"),
        ("alice@example.com", False, "address_not_proven"),
        ("nobody@example.com", True, "no_account"),
        ("alice@elsewhere.example", True, "domain_not_allowed"),
    ],
)
def test_an_address_alone_opens_nothing(
    real: str, make_user: Callable[..., User], settings: Any, name: str, proven: bool, problem: str
) -> None:
    settings.OIDC_DOMAINS = frozenset({"example.com"})
    owner(make_user, proven=proven)
    owner(make_user, "alice@elsewhere.example")
    client = APIClient()
    assert sign_in(client, name) == f"/sign-in?problem={problem}"
    assert who(client) is None
    assert (ExternalIdentity.objects.count(), User.objects.count()) == (0, 2)


def test_state_and_code_are_good_once(real: str, make_user: Callable[..., User]) -> None:
    owner(make_user)
    client, other = APIClient(), APIClient()
    url = go_through(begin(client), "alice@example.com")
    begin(other)
    assert come_back(other, url) == "/sign-in?problem=provider_refused"
    assert come_back(APIClient(), url) == "/sign-in?problem=provider_refused"
    assert come_back(client, url) == "/runs"
    client.delete(SESSION)
    assert come_back(client, url) == "/sign-in?problem=provider_refused"
    assert (who(client), who(other)) == (None, None)


def test_a_second_factor_is_asked_for_all_the_same(real: str, api: Callable[..., APIClient]) -> None:
    own: Any = api("viewer")
    device = Device()
    register(own, device)
    User.objects.filter(pk=own.user.pk).update(email="alice@example.com", address_proven=True)
    client = APIClient()
    assert sign_in(client, "alice@example.com") == "/sign-in"
    told = client.get(SESSION).json()
    assert (told["authenticated"], told["second_factor_due"]) == (False, True)
    options = client.post("/api/v1/session/passkey/options").json()["options"]
    answer = client.post("/api/v1/session/passkey", {"credential": device.get(options)}, format="json")
    assert (answer.status_code, who(client)) == (200, "alice@example.com")


def test_an_inactive_account(real: str, make_user: Callable[..., User]) -> None:
    owner(make_user)
    assert sign_in(APIClient(), "alice@example.com") == "/runs"
    User.objects.update(is_active=False)
    client = APIClient()
    assert sign_in(client, "alice@example.com") == "/sign-in?problem=no_account"
    assert who(client) is None


def test_a_password_still_signs_in(real: str, make_user: Callable[..., User]) -> None:
    user, client = owner(make_user), APIClient()
    sign_in(APIClient(), user.email)
    answer = client.post(SESSION, {"email": user.email, "password": PASSWORD}, format="json")
    assert answer.json()["authenticated"] is True


class Liar:
    """A provider that says what a test wants of it. Its server counts who asks for what."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig"})
        self.claims: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.sign: Callable[[dict[str, Any]], str | None] = lambda claims: self.signed(claims)
        self.redirect: str | None = None
        self.asked: list[tuple[str, dict[str, Any]]] = []
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                liar.answer(self, {})

            def do_POST(self) -> None:
                liar.answer(self, parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))

            def log_message(self, format: str, *args: Any) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,)).start()

    def signed(self, claims: dict[str, Any], alg: str = "RS256", key: Any = None) -> str:
        text: str = jwt.encode({"alg": alg, "kid": "1"}, claims, key or self.key, algorithms=[alg])
        return text

    def answer(self, handler: BaseHTTPRequestHandler, form: dict[str, Any]) -> None:
        path = urlsplit(handler.path).path
        self.asked.append((path, form))
        if path == "/token" and self.redirect:
            handler.send_response(307)
            handler.send_header("Location", self.redirect)
            handler.end_headers()
            return
        body = json.dumps(self._document(path)).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _document(self, path: str) -> dict[str, Any]:
        if path == "/jwks":
            return {"keys": [self.key.as_dict(private=False)]}
        if path == "/token":
            token = self.sign(self.claims)
            return {"access_token": "a", "token_type": "Bearer", **({"id_token": token} if token else {})}
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            **self.metadata,
        }

    def sends_back(self, url: str) -> str:
        """Make good claims for the request that ``url`` is; the address to which the browser is sent back."""
        asked, now = parse_qs(urlsplit(url).query), int(time.time())
        self.claims = {
            "iss": self.issuer, "sub": "7", "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"][0],
            "email": "alice@example.com", "email_verified": True,
        }  # fmt: skip
        return f"{HOME}{CALLBACK}?code=c&state={asked['state'][0]}"


@pytest.fixture
def liar(settings: Any) -> Iterator[Liar]:
    liar = Liar()
    settings.OIDC_ISSUER = liar.issuer
    yield liar
    liar.server.shutdown()
    liar.server.server_close()


def test_the_liar_can_tell_the_truth(liar: Liar, make_user: Callable[..., User]) -> None:
    owner(make_user)
    client = APIClient()
    assert come_back(client, liar.sends_back(begin(client))) == "/runs"
    [form] = [form for path, form in liar.asked if path == "/token"]
    assert form["code"] == ["c"] and len(form["code_verifier"][0]) >= 43


WRONG_CLAIMS: dict[str, Callable[[int], dict[str, Any]]] = {
    "another nonce": lambda now: {"nonce": "x"},
    "no nonce": lambda now: {"nonce": None},
    "another audience": lambda now: {"aud": "other"},
    "another audience for us": lambda now: {"aud": "other", "azp": CLIENT},
    "another party": lambda now: {"azp": "other"},
    "no audience": lambda now: {"aud": None},
    "another issuer": lambda now: {"iss": "https://evil.example"},
    "no issuer": lambda now: {"iss": None},
    "expired": lambda now: {"exp": now - 3600, "iat": now - 7200},
    "no end": lambda now: {"exp": None},
    "from the future": lambda now: {"iat": now + 3600},
    "no subject": lambda now: {"sub": None},
    "an empty subject": lambda now: {"sub": ""},
    "a subject that is no text": lambda now: {"sub": 7},
}
"""Claims that no sign-in may be based on, at a time in seconds since the epoch; None takes a claim out."""


@pytest.mark.parametrize("wrong", WRONG_CLAIMS)
def test_wrong_claims(liar: Liar, make_user: Callable[..., User], wrong: str) -> None:
    owner(make_user)
    client = APIClient()
    url = liar.sends_back(begin(client))
    claims = {**liar.claims, **WRONG_CLAIMS[wrong](int(time.time()))}
    liar.claims = {name: value for name, value in claims.items() if value is not None}
    assert come_back(client, url) == "/sign-in?problem=provider_refused"
    assert (who(client), ExternalIdentity.objects.count()) == (None, 0)


def unsigned(liar: Liar, claims: dict[str, Any]) -> str:
    return jws.serialize_compact(
        {"alg": "none"}, json.dumps(claims).encode(), OctKey.generate_key(), algorithms=["none"]
    )


WRONG_SIGNATURES: dict[str, Callable[[Liar, dict[str, Any]], str | None]] = {
    "none": unsigned,
    "the client's secret": lambda liar, claims: liar.signed(claims, "HS256", OctKey.import_key(SECRET)),
    "the public key": lambda liar, claims: liar.signed(
        claims, "HS256", OctKey.import_key(json.dumps(liar.key.as_dict(private=False)))
    ),
    "another key": lambda liar, claims: liar.signed(claims, key=RSAKey.generate_key(2048, {"kid": "1"})),
    "another text": lambda liar, claims: liar.signed(claims)[:-8] + "AAAAAAAA",
    "no token": lambda liar, claims: None,
    "no JWT": lambda liar, claims: "x.y.z",
}


@pytest.mark.parametrize("wrong", WRONG_SIGNATURES)
def test_wrong_signatures(liar: Liar, make_user: Callable[..., User], wrong: str) -> None:
    owner(make_user)
    client = APIClient()
    url = liar.sends_back(begin(client))
    liar.sign = lambda claims: WRONG_SIGNATURES[wrong](liar, claims)
    assert come_back(client, url) == "/sign-in?problem=provider_refused"
    assert (who(client), ExternalIdentity.objects.count()) == (None, 0)


@pytest.mark.parametrize("verified", ["true", 1, None, False])
def test_an_address_that_is_not_verified(liar: Liar, make_user: Callable[..., User], verified: Any) -> None:
    owner(make_user)
    client = APIClient()
    url = liar.sends_back(begin(client))
    liar.claims["email_verified"] = verified
    assert come_back(client, url) == "/sign-in?problem=email_not_verified"
    assert (who(client), ExternalIdentity.objects.count()) == (None, 0)


def test_a_second_subject_with_the_same_address_takes_nothing_over(liar: Liar, make_user: Callable[..., User]) -> None:
    owner(make_user)
    client, thief = APIClient(), APIClient()
    assert come_back(client, liar.sends_back(begin(client))) == "/runs"
    url = liar.sends_back(begin(thief))
    liar.claims["sub"] = "8"
    assert come_back(thief, url) == "/sign-in?problem=other_identity"
    assert (who(thief), ExternalIdentity.objects.get().subject) == (None, "7")


@pytest.mark.parametrize("query", ["", "?code=c", "?state=s", "?error=access_denied&state={state}", "?code=c&state=x"])
def test_answers_that_open_nothing(liar: Liar, query: str, db: None) -> None:
    client = APIClient()
    state = parse_qs(urlsplit(begin(client)).query)["state"][0]
    assert come_back(client, HOME + CALLBACK + query.format(state=state)) == "/sign-in?problem=provider_refused"
    assert "/token" not in [path for path, _ in liar.asked]


def test_an_answer_of_another_issuer(liar: Liar, make_user: Callable[..., User]) -> None:
    owner(make_user)
    client = APIClient()
    url = liar.sends_back(begin(client)) + "&iss=https://evil.example"
    assert come_back(client, url) == "/sign-in?problem=provider_refused"
    assert (
        come_back(client, url.replace("https://evil.example", "//evil.example&next=//evil.example"))[:9] == "/sign-in?"
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://127.0.0.1:1/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_a_document_that_does_not_hold(liar: Liar, metadata: dict[str, Any], db: None) -> None:
    liar.metadata = metadata
    answer = APIClient().post(BEGIN)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "provider_away")


def test_no_redirect_is_followed(liar: Liar, make_user: Callable[..., User]) -> None:
    owner(make_user)
    client = APIClient()
    url = liar.sends_back(begin(client))
    liar.redirect = f"{liar.issuer}/elsewhere"
    assert come_back(client, url) == "/sign-in?problem=provider_refused"
    assert "/elsewhere" not in [path for path, _ in liar.asked]


def test_a_provider_that_is_away(settings: Any, db: None) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    answer = APIClient().post(BEGIN)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "provider_away")


def test_without_a_provider(settings: Any, db: None) -> None:
    settings.OIDC_ISSUER = ""
    client = APIClient()
    answer = client.post(BEGIN)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_provider")
    assert come_back(client, HOME + CALLBACK) == "/sign-in?problem=no_provider"
    assert client.get(SESSION).json()["provider"] is None


@pytest.mark.parametrize("issuer", ["http://login.example.com", "login.example.com", "ftp://127.0.0.1"])
def test_an_issuer_needs_https(issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_OIDC_ISSUER", issuer)
    with pytest.raises(ValueError, match="https"):
        _ = Config().resolved_oidc_issuer
    monkeypatch.setenv("DRESSAGE_OIDC_ISSUER", "https://login.example.com")
    with pytest.raises(ValueError, match="CLIENT_ID"):
        _ = Config().resolved_oidc_issuer
