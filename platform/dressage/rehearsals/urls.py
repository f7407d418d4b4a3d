"""Routes of rehearsals."""

from django.urls import path

from dressage.rehearsals import views

urlpatterns = [
    path("rehearsals", views.RehearsalsView.as_view()),
    path("rehearsals/<str:rehearsal_id>", views.RehearsalView.as_view()),
    path("rehearsals/<str:rehearsal_id>/cancel", views.CancelRehearsalView.as_view()),
]
