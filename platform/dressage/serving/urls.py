"""Routes of served policies."""

from django.urls import path

from dressage.serving import views

urlpatterns = [
    path("servings", views.ServingsView.as_view()),
    path("servings/<str:serving_id>", views.ServingView.as_view()),
    path("servings/<str:serving_id>/stop", views.StopServingView.as_view()),
]
