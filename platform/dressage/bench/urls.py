"""Routes of the bench. They precede those of rewards, where ``rewards/<id>`` would match ``rewards/bench``."""

from django.urls import path

from dressage.bench import views

urlpatterns = [
    path("rewards/bench", views.BenchJobsView.as_view()),
    path("rewards/bench/<str:bench_id>", views.BenchJobView.as_view()),
]
