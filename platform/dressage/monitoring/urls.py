"""Routes of monitoring."""

from django.urls import path

from dressage.monitoring.views import history, metrics, row_history, traces

urlpatterns = [
    path("metrics", metrics.RunsMetricsView.as_view()),
    path("metrics/names", metrics.RunsMetricNamesView.as_view()),
    path("runs/<str:run_id>/metrics", metrics.MetricsView.as_view()),
    path("runs/<str:run_id>/metrics/names", metrics.MetricNamesView.as_view()),
    path("runs/<str:run_id>/events", history.EventsView.as_view()),
    path("runs/<str:run_id>/prompts", history.PromptsView.as_view()),
    path("runs/<str:run_id>/rollouts", history.RolloutsView.as_view()),
    path("runs/<str:run_id>/rollouts/export", traces.ExportView.as_view()),
    path("runs/<str:run_id>/rollouts/dataset", traces.RolloutDatasetView.as_view()),
    path("runs/<str:run_id>/rollouts/kept", traces.KeptView.as_view()),
    path("runs/<str:run_id>/rollouts/<str:rollout_id>/tokens", traces.RolloutTokensView.as_view()),
    path("runs/<str:run_id>/groups", traces.GroupsView.as_view()),
    path(
        "datasets/<str:dataset_id>/versions/<int:number>/rows/<int:index>/history",
        row_history.RowHistoryView.as_view(),
    ),
]
