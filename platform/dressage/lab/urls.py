"""Routes of the lab."""

from django.urls import path

from dressage.lab import views
from dressage.lab.quality.views import MarksView

urlpatterns = [
    path("datasets/<str:dataset_id>/versions/<int:number>/lab", views.VersionLabView.as_view()),
    path("lab-jobs/<str:job_id>", views.LabJobView.as_view()),
    path("lab-jobs/<str:job_id>/cancel", views.CancelLabJobView.as_view()),
    path("lab-jobs/<str:job_id>/resume", views.ResumeLabJobView.as_view()),
    path("lab-jobs/<str:job_id>/undo", views.UndoLabJobView.as_view()),
    path("lab-jobs/<str:job_id>/marks", MarksView.as_view()),
]
