"""Speculation in the tail: where few answers are running, a step samples several tokens of each.

    texts ──► drafter ──► plan ──► scheduler ──► vLLM ──► verification ──► costs, acceptance
    (answer,  (tokens,    (worth    (1 + k positions  (each position's    (of the next plans)
    siblings,  expected    it?)      per request)      token as ever, up
    earlier)   share)                                  to the first that
                                                       differs)

A draft only proposes. Each position is sampled as it is without speculation, and what follows the first token that is
not the drafted one is forgotten: the law of the tokens and their log-probabilities are those of the engine without it.
"""
