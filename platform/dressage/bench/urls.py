"""Routes of the bench. They come before those of rewards, where ``rewards/<id>`` would match ``rewards/bench``."""

from django.urls import path

from dressage.bench import views
from dressage.bench.link import views as link

urlpatterns = [
    path("rewards/bench", views.BenchJobsView.as_view()),
    path("rewards/bench/<str:bench_id>", views.BenchJobView.as_view()),
    path("link/bench/<str:job_id>", link.BenchTakeView.as_view()),
    path("link/bench/<str:job_id>/token", link.BenchTokenView.as_view()),
    path("link/bench/<str:job_id>/lease", link.BenchLeaseView.as_view()),
    path("link/bench/<str:job_id>/result", link.BenchResultView.as_view()),
]
