"""Routes of servings: the link's alone."""

from django.urls import path

from dressage.serving.link import views as link

urlpatterns = [
    path("link/servings/<str:job_id>", link.ServingTakeView.as_view()),
    path("link/servings/<str:job_id>/token", link.ServingTokenView.as_view()),
    path("link/servings/<str:job_id>/lease", link.ServingLeaseView.as_view()),
    path("link/servings/<str:job_id>/exchange", link.ServingExchangeView.as_view()),
    path("link/servings/<str:job_id>/result", link.ServingResultView.as_view()),
]
