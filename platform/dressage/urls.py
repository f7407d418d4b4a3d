"""Routes: the API, and the console for everything else."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularSwaggerSplitView

from dressage.common.openapi.view import OpenAPIView
from dressage.console import console

urlpatterns = [
    path("api/v1/schema", OpenAPIView.as_view(), name="schema"),
    path("api/v1/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("api/v1/", include("dressage.teams.urls")),
    path("api/v1/", include("dressage.datasets.urls")),
    path("api/v1/", include("dressage.lab.urls")),
    path("api/v1/", include("dressage.bench.urls")),
    path("api/v1/", include("dressage.rewards.urls")),
    path("api/v1/", include("dressage.policies.urls")),
    path("api/v1/", include("dressage.rehearsals.urls")),
    path("api/v1/", include("dressage.serving.urls")),
    path("api/v1/", include("dressage.profiles.urls")),
    path("api/v1/", include("dressage.cluster_jobs.urls")),
    path("api/v1/", include("dressage.runs.urls")),
    path("api/v1/", include("dressage.home.urls")),
    path("api/v1/", include("dressage.monitoring.urls")),
    path("api/v1/", include("dressage.chart_views.urls")),
    path("api/v1/", include("dressage.reports.urls")),
    path("api/v1/", include("dressage.compat.urls")),
    # Without an inline flag: Django cannot reverse any path beside a pattern that has one.
    re_path(r"^(?!api/|ws/|static/|assets/)[\s\S]*$", console),
]

handler400 = "dressage.common.api.problem_responses.bad_request"
handler404 = "dressage.common.api.problem_responses.page_not_found"
handler500 = "dressage.common.api.problem_responses.server_error"
