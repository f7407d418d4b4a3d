"""Auxiliary models and terms: reference, proximal policy, teacher, critic, supervised term."""
