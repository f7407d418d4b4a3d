"""Models beside the policy: reference, proximal policy, teacher, critic, supervised term."""
