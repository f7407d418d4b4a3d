"""Routes of datasets."""

from django.urls import path

from dressage.datasets.cards import views as card_views
from dressage.datasets.imports import views as import_views
from dressage.datasets.mapping import views as mapping_views
from dressage.datasets.quota import views as quota_views
from dressage.datasets.search import views as search_views
from dressage.datasets.sharing import views as share_views
from dressage.datasets.uploads import views as uploads
from dressage.datasets.views import datasets as views
from dressage.datasets.views import notes as note_views
from dressage.datasets.views import versions as version_views

urlpatterns = [
    path("datasets", views.DatasetsView.as_view()),
    path("datasets/preview", mapping_views.DatasetPreviewView.as_view()),
    path("dataset-mappings", mapping_views.SavedMappingsView.as_view()),
    path("dataset-mappings/<str:mapping_id>", mapping_views.SavedMappingView.as_view()),
    path("datasets/<str:dataset_id>", views.DatasetView.as_view()),
    path("datasets/<str:dataset_id>/card", card_views.DatasetCardView.as_view()),
    path("datasets/<str:dataset_id>/shares", share_views.DatasetSharesView.as_view()),
    path("datasets/<str:dataset_id>/shares/<str:share_id>", share_views.DatasetShareView.as_view()),
    path("datasets/<str:dataset_id>/versions", views.DatasetVersionsView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>", views.DatasetVersionView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/rows", views.DatasetRowsView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/rows/search", search_views.RowSearchView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/row-values", search_views.RowValuesView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/rows/<int:index>", search_views.RowView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/derive", version_views.DeriveView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/diff", version_views.DiffView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/download", version_views.DownloadView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/notes", note_views.NotesView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/notes/<str:name>", note_views.OneNotesView.as_view()),
    path("dataset-offers/<str:secret>", share_views.DatasetOfferView.as_view()),
    path("dataset-offers/<str:secret>/accept", share_views.AcceptDatasetView.as_view()),
    path("shared-datasets", share_views.SharedDatasetsView.as_view()),
    path("dataset-sources", import_views.DatasetSourcesView.as_view()),
    path("dataset-imports", import_views.DatasetImportsView.as_view()),
    path("dataset-imports/listing", import_views.DatasetListingView.as_view()),
    path("dataset-imports/<str:dataset_import_id>", import_views.DatasetImportView.as_view()),
    path("dataset-imports/<str:dataset_import_id>/report", import_views.DatasetImportReportView.as_view()),
    path("dataset-imports/<str:dataset_import_id>/preview", import_views.PreviewImportView.as_view()),
    path("dataset-imports/<str:dataset_import_id>/read", import_views.ReadImportView.as_view()),
    path("dataset-imports/<str:dataset_import_id>/cancel", import_views.CancelDatasetImportView.as_view()),
    path("dataset-imports/<str:dataset_import_id>/retry", import_views.RetryDatasetImportView.as_view()),
    path("dataset-usage", quota_views.DatasetUsageView.as_view()),
    path("dataset-uploads", uploads.DatasetUploadsView.as_view()),
    path("dataset-uploads/<str:upload_id>", uploads.DatasetUploadView.as_view()),
]
