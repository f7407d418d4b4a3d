"""Routes of reports."""

from django.urls import path

from dressage.reports.views import ReportRevisionsView, ReportRevisionView, ReportsView, ReportView

urlpatterns = [
    path("reports", ReportsView.as_view()),
    path("reports/<str:report_id>", ReportView.as_view()),
    path("reports/<str:report_id>/revisions", ReportRevisionsView.as_view()),
    path("reports/<str:report_id>/revisions/<int:number>", ReportRevisionView.as_view()),
]
