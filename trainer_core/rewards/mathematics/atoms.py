"""Names that the grammar of answers knows: functions, constants, letters of other alphabets, operators."""

from typing import Final

FUNCTIONS: Final = {
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "arccot", "sinh", "cosh", "tanh", "ln",
    "log", "lg", "exp", "gcd", "lcm", "min", "max", "det", "Re", "Im", "arg",
}  # fmt: skip
INVERSE: Final = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot"}
GREEK: Final = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega", "ell", "hbar",
}  # fmt: skip
CONSTANTS: Final = {
    "pi": "pi", "infty": "infinity", "emptyset": "emptyset", "varnothing": "emptyset", "imath": "i", "R": "reals",
    "top": "top", "ldots": "dots", "dots": "dots", "cdots": "dots",
}  # fmt: skip
BOARD: Final = {"R": "reals", "Z": "integers", "N": "naturals", "Q": "rationals", "C": "complexes"}
ACCENTS: Final = {"vec", "hat", "bar", "tilde", "overline", "dot", "widehat", "overrightarrow"}
TIMES: Final = ("*", "\\cdot", "\\times", "\\ast")
OVER: Final = ("/", "\\div")
RELATIONS: Final = {
    "=": "=", "<": "<", ">": ">", "\\le": "<=", "\\leq": "<=", "\\leqslant": "<=", "\\ge": ">=", "\\geq": ">=",
    "\\geqslant": ">=", "\\ne": "!=", "\\neq": "!=", "\\lt": "<", "\\gt": ">", "\\in": "in", "\\approx": "~",
    "\\equiv": "=mod", "\\parallel": "parallel", "\\perp": "perpendicular",
}  # fmt: skip
SETS: Final = {"\\cup": "union", "\\cap": "intersection", "\\setminus": "difference", "\\backslash": "difference"}
CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "£", "¥": "yen"}
"""Signs that stand before an amount, and the unit that they mean."""
SEPARATORS: Final = {"or": "or", "and": "and", "或": "or", "和": "and", "或者": "or", "oder": "or", "und": "and"}
SHORT_WORDS: Final = {
    "ans", "sum", "age", "day", "avg", "num", "max", "min", "sol", "val", "res", "key", "opt", "mid", "end", "top",
    "so", "if", "is", "it", "we", "my", "our", "the", "an", "to", "of", "in", "for", "get", "are", "lcm", "gcd", "gcf",
    "hcf", "hcd", "std", "var", "cov", "med", "mean", "area", "cost", "time", "rate", "size", "rank", "mode", "tax",
    "pay", "all", "one", "two", "six", "ten", "mr", "mrs", "ms", "dr", "boy", "boys", "cat", "dog", "red", "pen", "net",
    "no", "yes", "odd", "even", "ends", "dne", "rms", "sat", "sun", "mon", "tom", "bob", "ann", "amy", "sam", "ben",
}  # fmt: skip
"""Words that name a value in front of "="; other words of three letters or less are letters side by side."""
MATRICES: Final = {"matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"}
"""Surroundings that are matrices; ``vmatrix`` is a determinant."""
