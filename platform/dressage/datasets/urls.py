"""Routes of datasets."""

from django.urls import path

from dressage.datasets import views

urlpatterns = [
    path("datasets", views.DatasetsView.as_view()),
    path("datasets/<str:dataset_id>", views.DatasetView.as_view()),
    path("datasets/<str:dataset_id>/versions", views.DatasetVersionsView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>", views.DatasetVersionView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/rows", views.DatasetRowsView.as_view()),
]
