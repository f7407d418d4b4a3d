"""Routes of the jobs' link."""

from dressage.jobs.link import routes

urlpatterns = routes()
