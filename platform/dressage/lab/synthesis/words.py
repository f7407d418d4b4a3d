"""Sentences sent to models. The user who starts a synthesis may change them."""

REPHRASE = (
    "Write the question in other words. Change the order and the build of its sentences, not single words alone. Keep "
    "its meaning, every number, every condition, what is asked for and the form in which the answer is wanted, so that "
    "the answer stays the same."
)
WHOLE_ANSWERS = (
    "Change what the question asks for, as little as possible, so that its answer becomes one whole number that "
    "follows from the answer given: of a fraction m/n in lowest terms the sum m + n, of an expression such as "
    "k - m\\sqrt{n} the sum k + m + n, of several values their sum. Say in the question in which form the original "
    "answer is to be written, so that the whole number is the only one possible. Keep all else."
)
ANSWER_FORMAT = "Reason step by step, and put your final answer within \\boxed{}."
