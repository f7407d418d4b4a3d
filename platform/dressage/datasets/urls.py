"""Routes of datasets."""

from django.urls import path

from dressage.datasets import version_views, views

urlpatterns = [
    path("datasets", views.DatasetsView.as_view()),
    path("datasets/<str:dataset_id>", views.DatasetView.as_view()),
    path("datasets/<str:dataset_id>/versions", views.DatasetVersionsView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>", views.DatasetVersionView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/rows", views.DatasetRowsView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/derive", version_views.DeriveView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/diff", version_views.DiffView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/download", version_views.DownloadView.as_view()),
]
