"""Routes of profiles."""

from django.urls import path

from dressage.profiles import review_views, views
from dressage.profiles.goldilocks import views as goldilocks

urlpatterns = [
    path("profiles", views.ProfilesView.as_view()),
    path("profiles/cost", views.ProfileCostView.as_view()),
    path("profiles/<str:profile_id>", views.ProfileView.as_view()),
    path("profiles/<str:profile_id>/cancel", views.CancelProfileView.as_view()),
    path("profiles/<str:profile_id>/versions", views.DeriveFromProfileView.as_view()),
    path("profiles/<str:profile_id>/review", review_views.ReviewView.as_view()),
    path("profiles/<str:profile_id>/review/versions", review_views.DeriveFromReviewView.as_view()),
    path("goldilocks", goldilocks.GoldilocksView.as_view()),
    path("goldilocks/<str:goldilocks_id>", goldilocks.OneGoldilocksView.as_view()),
    path("goldilocks/<str:goldilocks_id>/cancel", goldilocks.CancelGoldilocksView.as_view()),
    path("goldilocks/<str:goldilocks_id>/undo", goldilocks.UndoGoldilocksView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/goldilocks", goldilocks.VersionGoldilocksView.as_view()),
    path("datasets/<str:dataset_id>/versions/<int:number>/profiles", views.VersionProfilesView.as_view()),
]
