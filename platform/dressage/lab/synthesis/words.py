"""Sentences that are put to models, which whoever starts a synthesis may change."""

REPHRASE = (
    "Write the question in other words. Change the order and the build of its sentences, not single words alone. Keep "
    "its meaning, every number, every condition, what is asked for and the form in which the answer is wanted, so that "
    "the answer stays the same."
)
ANSWER_FORMAT = "Reason step by step, and put your final answer within \\boxed{}."
