"""Speculation in the tail: when few answers are running, a step samples several tokens of each.

    texts ──► drafter ──► plan ──► scheduler ──► vLLM ──► verification ──► costs, acceptance
    (answer,  (tokens,    (worth    (1 + k positions  (each position's    (of the next plans)
    siblings,  expected    it?)      per request)      token as ever, up
    earlier)   share)                                  to the first that
                                                       differs)

A draft only proposes. Each position is sampled as without speculation, and everything after the first token that
differs from the draft is discarded. So tokens have the same distribution and log-probabilities as without speculation.
"""
