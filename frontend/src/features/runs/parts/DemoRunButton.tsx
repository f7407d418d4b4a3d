import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import * as api from "@/api/client";
import { recipesQuery } from "@/entities/runs/queries";
import { useCan } from "@/features/session/session";
import { useSubmit } from "@/lib/useSubmit";
import { toastError } from "@/ui/toast";

/** Creates the demo run. */
export function DemoRunButton() {
  const recipes = useQuery(recipesQuery);
  const demo = recipes.data?.find(recipe => recipe.name === "demo");
  const operator = useCan("operator");
  const navigate = useNavigate();
  const create = useSubmit({
    mutationFn: () => api.createRun({ name: demo?.title ?? "Demo", spec: demo?.spec ?? {}, start: operator }),
    onSuccess: run => void navigate({ to: "/runs/$runId", params: { runId: run.id } }),
    onError: error => toastError("The demo run was not created", error),
  });
  if (recipes.isSuccess && !demo) return null;
  return (
    <Button
      leftSection={<IconPlayerPlay size={15} />}
      loading={create.isPending}
      disabled={!demo}
      onClick={() => create.mutate()}
      data-testid="create-demo-run"
    >
      Create demo run
    </Button>
  );
}
