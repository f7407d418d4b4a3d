/** Opens the version that an operation has made, once the page knows of it. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

interface Made {
  results: { dataset_id: string | null; number: number }[];
}

export function useOpenMade() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async ({ results }: Made) => {
    await client.invalidateQueries({ queryKey: ["datasets"] });
    const [made] = results;
    if (made?.dataset_id)
      await navigate({
        to: "/datasets/$datasetId",
        params: { datasetId: made.dataset_id },
        search: { version: made.number },
      });
  };
}
