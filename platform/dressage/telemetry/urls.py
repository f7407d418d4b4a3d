"""Routes of telemetry."""

from django.urls import path

from dressage.telemetry.views import history, metrics

urlpatterns = [
    path("runs/<str:run_id>/metrics", metrics.MetricsView.as_view()),
    path("runs/<str:run_id>/metrics/names", metrics.MetricNamesView.as_view()),
    path("runs/<str:run_id>/events", history.EventsView.as_view()),
    path("runs/<str:run_id>/rollouts", history.RolloutsView.as_view()),
]
