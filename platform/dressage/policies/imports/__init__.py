"""Policy imports from the Hugging Face hub and object stores. They run in the background and can be resumed."""
