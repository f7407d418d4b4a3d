"""Routes of rewards, judges and proposals."""

from django.urls import path

from dressage.rewards import views
from dressage.rewards.judges import views as judges
from dressage.rewards.proposals import views as proposals

urlpatterns = [
    path("rewards", views.RewardsView.as_view()),
    path("rewards/try", views.TryRewardView.as_view()),
    path("rewards/schema", views.RewardSchemaView.as_view()),
    path("rewards/<str:reward_id>", views.RewardView.as_view()),
    path("rewards/<str:reward_id>/versions", views.RewardVersionsView.as_view()),
    path("rewards/<str:reward_id>/proposals", proposals.ProposalsView.as_view()),
    path("rewards/<str:reward_id>/proposals/<str:proposal_id>/accept", proposals.AcceptProposalView.as_view()),
    path("rewards/<str:reward_id>/proposals/<str:proposal_id>/retire", proposals.RetireProposalView.as_view()),
    path("judge-endpoints", judges.JudgeEndpointsView.as_view()),
    path("judge-endpoints/<str:endpoint_id>", judges.JudgeEndpointView.as_view()),
]
