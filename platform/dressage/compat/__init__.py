"""OpenAI-compatible endpoints: an unmodified ``openai`` client with our ``base_url`` and an API token works."""
