"""Routes of rehearsals."""

from django.urls import path

from dressage.rehearsals import views
from dressage.rehearsals.link import views as link

urlpatterns = [
    path("rehearsals", views.RehearsalsView.as_view()),
    path("rehearsals/<str:rehearsal_id>", views.RehearsalView.as_view()),
    path("rehearsals/<str:rehearsal_id>/cancel", views.CancelRehearsalView.as_view()),
    path("link/rehearsals/<str:job_id>", link.RehearsalTakeView.as_view()),
    path("link/rehearsals/<str:job_id>/token", link.RehearsalTokenView.as_view()),
    path("link/rehearsals/<str:job_id>/datasets/<str:ref>", link.RehearsalDatasetView.as_view()),
    path("link/rehearsals/<str:job_id>/datasets/<str:ref>/difficulty", link.RehearsalDifficultyView.as_view()),
    path("link/rehearsals/<str:job_id>/lease", link.RehearsalLeaseView.as_view()),
    path("link/rehearsals/<str:job_id>/result", link.RehearsalResultView.as_view()),
]
