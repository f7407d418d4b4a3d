"""The planner: time and cost of a run before it starts. Imports neither torch nor numpy."""

from trainer_core.planning.plan import ModePlan, RunPlan, plan
from trainer_core.planning.rates import Rates
from trainer_core.planning.workload import PlanError

__all__ = ["ModePlan", "PlanError", "Rates", "RunPlan", "plan"]
