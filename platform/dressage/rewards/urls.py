"""Routes of rewards."""

from django.urls import path

from dressage.rewards import views

urlpatterns = [
    path("rewards", views.RewardsView.as_view()),
    path("rewards/try", views.TryRewardView.as_view()),
    path("rewards/schema", views.RewardSchemaView.as_view()),
    path("rewards/<str:reward_id>", views.RewardView.as_view()),
    path("rewards/<str:reward_id>/versions", views.RewardVersionsView.as_view()),
]
