"""Limits on password guessing, which slow down guessers and never lock the owner of an account out.

Each guess is counted in a line of its own, so that the guesses of one client use up nothing of another's (OWASP, "Slow
down online guessing attacks with device cookies"):

* **A known device**, which has a cookie from an earlier sign-in to this very account: only its own wrong guesses count.
  All passes of an account together are one such device.
* **A known network**, from which someone has signed in to this account: only wrong guesses at it from there count.
* **Elsewhere**: each network has a few guesses at an account, for which it competes with no other. After them it waits,
  twice as long each time, and shares a small allowance with all others that have guessed wrongly at that account. So an
  owner with a new device gets in immediately, no matter how many guess elsewhere.

A guess is counted before the password is checked, in one step in Redis, and given back if it was right: concurrent
guesses are counted like any others.
"""
