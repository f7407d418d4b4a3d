"""Routes of runs, controls, checkpoints, the spec and the link."""

from django.urls import path

from dressage.runs.views import actions, checkpoints, clusters, controls, curriculum, link, planning, runs, spec

urlpatterns = [
    path("runs", runs.RunsView.as_view()),
    path("runs/<str:run_id>", runs.RunView.as_view()),
    path("runs/<str:run_id>/start", actions.StartView.as_view()),
    path("runs/<str:run_id>/pause", actions.PauseView.as_view()),
    path("runs/<str:run_id>/resume", actions.ResumeView.as_view()),
    path("runs/<str:run_id>/cancel", actions.CancelView.as_view()),
    path("runs/<str:run_id>/release", actions.ReleaseView.as_view()),
    path("runs/<str:run_id>/measure-noise", actions.MeasureNoiseView.as_view()),
    path("runs/<str:run_id>/checkpoint", actions.SaveView.as_view()),
    path("runs/<str:run_id>/fork", actions.ForkView.as_view()),
    path("runs/<str:run_id>/targets", controls.TargetsView.as_view()),
    path("runs/<str:run_id>/controls", controls.ControlsView.as_view()),
    path("runs/<str:run_id>/controls/<str:control_id>/cancel", controls.CancelControlView.as_view()),
    path("runs/<str:run_id>/controls/<str:control_id>/revert", controls.RevertControlView.as_view()),
    path("runs/<str:run_id>/controls/<str:control_id>/rewind", controls.RewindControlView.as_view()),
    path("runs/<str:run_id>/curriculum", curriculum.CurriculumView.as_view()),
    path("runs/<str:run_id>/curriculum/preview", curriculum.CurriculumPreviewView.as_view()),
    path("runs/<str:run_id>/checkpoints", checkpoints.CheckpointsView.as_view()),
    path("checkpoints/<str:checkpoint_id>/download", checkpoints.DownloadCheckpointView.as_view()),
    path("checkpoints/<str:checkpoint_id>/policy", checkpoints.CheckpointPolicyView.as_view()),
    path("clusters", clusters.ClustersView.as_view()),
    path("teams/current/gpu-hours", clusters.GpuHoursView.as_view()),
    path("spec/schema", spec.SpecSchemaView.as_view()),
    path("spec/recipes", spec.RecipesView.as_view()),
    path("spec/validate", spec.ValidateSpecView.as_view()),
    path("spec/plan", planning.PlanView.as_view()),
    path("spec/plan/clusters", planning.ClusterPlanView.as_view()),
    path("link/clusters/<str:name>/report", clusters.ClusterReportView.as_view()),
    path("link/runs/<str:run_id>/attempts/<int:number>/token", link.AttemptTokenView.as_view()),
    path("link/runs/<str:run_id>/bundle", link.BundleView.as_view()),
    path("link/runs/<str:run_id>/datasets/<str:ref>", link.LinkDatasetView.as_view()),
    path("link/runs/<str:run_id>/datasets/<str:ref>/difficulty", link.LinkDifficultyView.as_view()),
    path("link/runs/<str:run_id>/sync", link.SyncView.as_view()),
    path("link/runs/<str:run_id>/traces/<int:step>/<int:number>", link.TraceView.as_view()),
]
