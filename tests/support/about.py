"""What expensive tests are about: folders of the product whose change makes them run again."""

PLATFORM = ("platform", "trainer_core")
"""The web tier."""
LEARNING = ("kernels", "trainer_core")
"""The science: what neither starts engines nor answers requests."""
TRAINING = (*LEARNING, "worker")
"""All that trains. One test of each kind is about all of it; the others are about `RUNS` or less."""
INSTALLATION = ("deploy", "frontend/src", "platform", *TRAINING)
"""A whole installation, perhaps with a browser in front of it."""
RUNS = (
    "kernels",
    "trainer_core/methods",
    "trainer_core/prompting",
    "trainer_core/spec",
    "trainer_core/steering",
    "trainer_core/update",
    "trainer_core/episodes",
    "worker/cluster",
    "worker/engine",
    "worker/learner",
    "worker/loop",
    "worker/messages",
    "worker/rollout",
)
"""A whole run, of which others run whatever is changed."""
ENGINES = ("kernels", "trainer_core/starter", "worker/engine", "worker/messages")
"""An engine with a policy of its own."""
SAMPLING = (
    "trainer_core/link",
    "trainer_core/prompting",
    "trainer_core/rewards",
    "trainer_core/spec",
    "worker/cluster",
    "worker/engine",
    "worker/jobs",
    "worker/link",
    "worker/messages",
    "worker/rewards",
    "worker/rollout",
    "worker/scoring",
)
"""Work with engines that learns nothing."""
RANKS = (
    "kernels",
    "trainer_core/methods",
    "trainer_core/spec",
    "trainer_core/update",
    "worker/cluster",
    "worker/learner",
    "worker/messages",
)
"""Several ranks of a learner."""
