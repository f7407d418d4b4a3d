"""Sign-in with an OpenID Connect provider of the installation, by the Authorization Code flow with PKCE.

Whose account it is that somebody signs in to is decided by issuer and subject. An e-mail address binds a new subject to
an account once, and only where the provider says that it is verified and the address was proven here as well.
"""
