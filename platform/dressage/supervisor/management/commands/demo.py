"""``manage.py demo``: a team with the demo's datasets, reward, policy and a run that starts training."""

import os
import secrets
import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from dressage.common.actors import Actor
from dressage.datasets.models import Dataset
from dressage.datasets.services import create_version_from_path
from dressage.embedded.private_files import close_to_others
from dressage.policies.models import Policy
from dressage.policies.services import register_policy
from dressage.rewards.models import Reward
from dressage.rewards.services import create_reward
from dressage.runs.life.services import create_run
from dressage.runs.models import Run
from dressage.teams.models import Team, User
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec.recipes import list_recipes

DEMO = settings.BASE_DIR / "demo"
TEAM = "Demo"
DATASETS = {
    "gsm8k-add-sub": "GSM8K additions and subtractions",
    "gsm8k-mul": "GSM8K multiplications",
    "gsm8k-div": "GSM8K divisions",
    "gsm8k-questions": "GSM8K questions",
    "gsm8k-worked": "GSM8K worked calculations",
    "gsm8k-pairs": "GSM8K pairs of results",
    "gsm8k-eval": "GSM8K additions and subtractions, held out",
    "gsm8k-eval-mul": "GSM8K multiplications, held out",
    "gsm8k-eval-div": "GSM8K divisions, held out",
    "gsm8k-worked-eval": "GSM8K worked calculations, held out",
    "gsm8k-pairs-eval": "GSM8K pairs of results, held out",
}
REWARDS = {
    "calculation": {"components": [{"name": "correct", "weight": 1.0, "grader": {"type": "numeric"}}]},
    "calculation-format": {
        "components": [
            {"name": "correct", "weight": 1.0, "grader": {"type": "numeric"}},
            {"name": "format", "weight": 0.1, "grader": {"type": "format"}},
            {"name": "length", "weight": 0.1, "grader": {"type": "length_penalty", "free": 16, "full": 32}},
        ]
    },
}


class Command(BaseCommand):
    """Creates what is missing; a second call creates nothing twice and sets no new password."""

    help = "Create the demo team with its data, reward, policy and a first run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-run", action="store_true", help="do not start a run")

    def handle(self, *args: Any, **options: Any) -> None:
        email = os.environ.get("DRESSAGE_ADMIN_EMAIL", "demo@dressage.local")
        self._sign_in(email)
        team, actor = Team.objects.get(slug=TEAM.lower()), Actor.system("demo")
        for slug, name in DATASETS.items():
            if not Dataset.objects.for_team(team).filter(slug=slug).exists():
                create_version_from_path(team, actor, DEMO / "data" / f"{slug}.jsonl", slug=slug, name=name)
        for slug, definition in REWARDS.items():
            if not Reward.objects.for_team(team).filter(slug=slug).exists():
                name = slug.replace("-", " and ").capitalize()
                create_reward(team, actor, name=name, slug=slug, definition=RewardDefinition.model_validate(definition))
        if not Policy.objects.for_team(team).filter(slug="starter").exists():
            register_policy(team, actor, "Starter", _starter_policy(), slug="starter")
        if not options["no_run"] and not Run.objects.for_team(team).exists():
            recipe = next(recipe for recipe in list_recipes() if recipe.name == "demo")
            create_run(team, actor, name="Thinking pays", spec=recipe.run_spec(), start=True)

    def _sign_in(self, email: str) -> None:
        """Create the admin on the first call and show how to sign in."""
        if User.objects.filter(email=email).exists():
            return
        given = os.environ.get("DRESSAGE_ADMIN_PASSWORD")
        password = given or secrets.token_urlsafe(12)
        os.environ["DRESSAGE_ADMIN_PASSWORD"] = password
        call_command("create_admin", email=email, team=TEAM, stderr=self.stderr)
        if given is None:  # only the user who started the demo sees it: it is theirs, and not temporary
            self.stdout.write(f"\n  Sign in as {self.style.SUCCESS(email)} with {self.style.SUCCESS(password)}\n")


def _starter_policy() -> Path:
    """The shipped policy, copied to a folder that policies may be in."""
    folder = settings.POLICY_ROOT / "starter"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(DEMO / "starter-policy", part)
        close_to_others(part)  # the checkout's own files may be readable by all
        part.rename(folder)
    return folder
