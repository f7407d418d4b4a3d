"""The science of Dressage: methods, steering, rewards and updates. No Django, no Ray, no Celery, no vLLM."""
