"""Routes of the jobs' link."""

from dressage.cluster_jobs.link import routes

urlpatterns = routes()
