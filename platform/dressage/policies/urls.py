"""Routes of policies."""

from django.urls import path

from dressage.policies import views

urlpatterns = [
    path("policies", views.PoliciesView.as_view()),
    path("policies/<str:policy_id>", views.PolicyView.as_view()),
]
