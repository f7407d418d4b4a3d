"""Routes of saved views."""

from django.urls import path

from dressage.chart_views.views import ChartViewsView, ChartViewView

urlpatterns = [
    path("views", ChartViewsView.as_view()),
    path("views/<str:view_id>", ChartViewView.as_view()),
]
