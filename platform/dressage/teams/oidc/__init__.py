"""Sign-in with the installation's OpenID Connect provider, by the Authorization Code flow with PKCE.

Issuer and subject identify the account that a person signs in to. An e-mail address binds a new subject to an account
once, and only if the provider says that it is verified and the address was proven here as well.
"""
