"""Routes of the compatible endpoints, as OpenAI's clients write them."""

from django.urls import path

from dressage.compat.graders import views as graders

urlpatterns = [
    path("fine_tuning/alpha/graders/validate", graders.ValidateGraderView.as_view()),
    path("fine_tuning/alpha/graders/run", graders.RunGraderView.as_view()),
]
