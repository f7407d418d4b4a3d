"""Second factors of accounts: an authenticator app (TOTP, RFC 6238), and recovery codes for anyone who has lost it.

With a second factor, a sign-in has two steps: the password, then a code. The password alone signs no user in; the
session remembers for ten minutes whose second step is due (``second_step``).
"""
