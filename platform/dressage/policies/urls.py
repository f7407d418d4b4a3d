"""Routes of policies."""

from django.urls import path

from dressage.policies import views
from dressage.policies.access import views as access
from dressage.policies.imports import views as imports

urlpatterns = [
    path("policies", views.PoliciesView.as_view()),
    path("policies/<str:policy_id>", views.PolicyView.as_view()),
    path("policies/<str:policy_id>/facts", views.PolicyFactsView.as_view()),
    path("policy-imports", imports.PolicyImportsView.as_view()),
    path("policy-imports/<str:import_id>", imports.PolicyImportView.as_view()),
    path("policy-imports/<str:import_id>/cancel", imports.CancelImportView.as_view()),
    path("policy-imports/<str:import_id>/retry", imports.RetryImportView.as_view()),
    path("policy-sources", access.PolicySourcesView.as_view()),
    path("policy-sources/hub", access.HubSourceView.as_view()),
    path("policy-sources/bucket", access.BucketSourceView.as_view()),
]
