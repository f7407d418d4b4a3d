"""Route of the first page."""

from django.urls import path

from dressage.home.views import HomeView

urlpatterns = [path("home", HomeView.as_view())]
