"""Signs on to the built server with tokens that an OpenID provider of others issues. `scripts/judge` installs it."""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import KEY, FakeModel, Served, with_fake_model  # noqa: E402

import logging  # noqa: E402

import oidc_provider_mock  # noqa: E402

logging.getLogger("werkzeug").setLevel(logging.ERROR)

BACK = "http://127.0.0.1:1/back"
SIGN_ON = '\n[server.oidc]\nissuer = "{issuer}"\naudience = "consort"\nscopes_claim = "roles"\n'


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the code is in the address."""

    def redirect_request(self, *_):
        return None


def post(url, form):
    """The answer, or the address that it redirects to."""
    try:
        with urllib.request.build_opener(Stay).open(url, urllib.parse.urlencode(form).encode()) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as redirect:
        return redirect.headers["Location"]


def token(issuer, user, roles, audience="consort"):
    """Signs a user on, as a browser and an application would, and returns the token."""
    claims = urllib.request.Request(
        f"{issuer}/users/{user}", json.dumps({"roles": roles}).encode(), {"Content-Type": "application/json"}, method="PUT"
    )
    urllib.request.urlopen(claims).close()
    asked = {"client_id": audience, "redirect_uri": BACK, "response_type": "code", "scope": "openid", "nonce": user}
    back = post(f"{issuer}/oauth2/authorize?{urllib.parse.urlencode(asked)}", {"sub": user})
    code = urllib.parse.parse_qs(urllib.parse.urlparse(back).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
    form |= {"client_id": audience, "client_secret": "any"}
    return post(f"{issuer}/oauth2/token", form)["id_token"]


def ask(served, key, path, body=None):
    """Status and body of a request."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(served.url + path, json.dumps(body).encode() if body else None, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def signed_on(served, issuer):
    ann, bob = token(issuer, "ann", ["run"]), token(issuer, "bob", "read review")
    status, me = ask(served, ann, "/api/me")
    assert status == 200 and me == {"name": f"{issuer}|ann", "owner": "oidc:ann", "scopes": ["run"], "sees": "own"}, me
    status, accepted = ask(served, ann, "/api/runs", {"inputs": {"topic": "tea"}})
    assert status == 202, accepted
    assert ask(served, ann, f"/api/runs/{accepted['runId']}")[0] == 200
    assert ask(served, bob, f"/api/runs/{accepted['runId']}")[0] == 404, "it is another's"
    assert ask(served, bob, "/api/runs", {"inputs": {"topic": "tea"}})[0] == 403
    assert ask(served, token(issuer, "ann", ["run"], "others"), "/api/me")[0] == 401, "for another audience"
    assert ask(served, ann[:-4] + "AAAA", "/api/me")[0] == 401
    assert ask(served, token(issuer, "eve", []), "/api/me")[0] == 403, "without a scope"
    assert ask(served, KEY, "/api/me")[0] == 200, "keys work beside tokens"
    served.kill()
    served.start()
    assert ask(served, ann, f"/api/runs/{accepted['runId']}")[0] == 200, "and after a crash"


def main():
    model = FakeModel()
    with oidc_provider_mock.run_server_in_thread() as provider:
        issuer = f"http://localhost:{provider.server_port}"
        served = Served(with_fake_model(model, SIGN_ON.format(issuer=issuer)))
        try:
            signed_on(served, issuer)
            print("oidc-provider-mock: fine")
        finally:
            served.close()
            model.close()


main()
