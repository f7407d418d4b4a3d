"""Second factors of accounts: an authenticator app (TOTP, RFC 6238), and recovery codes for who has lost it.

An account that has one signs in in two steps: the password, then a code. Whoever has given the password is not signed
in; the session remembers for ten minutes whose second step is due (``second_step``).
"""
