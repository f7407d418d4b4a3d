"""The HTTP server beside an engine: clients of OpenAI's API use a served policy without a change of their code."""
