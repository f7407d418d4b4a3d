"""OpenAI's ``fine_tuning.alpha.graders``."""
