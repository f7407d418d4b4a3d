"""Effects of controls: did a change move what it was meant to move, and what else?"""
