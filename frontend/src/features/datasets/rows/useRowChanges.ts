/** Versions made of a version by changes of its rows, or of some of them. */
import { useNavigate } from "@tanstack/react-router";
import type { Dataset, DatasetVersion, DeriveRequest, RowQuery } from "@/api/model";
import { errorText } from "@/api/http";
import { useDerive } from "@/entities/datasets/useDerive";
import { useSubmit } from "@/lib/useSubmit";
import { toast, toastError } from "@/ui/toast";

export interface RowChanges {
  /** Replaces a row by another, given as JSON text. */
  change: (id: string, text: string) => void;
  /** Leaves rows out. Why it cannot be is told in a toast. */
  remove: (ids: string[]) => void;
  /** Makes a version, or with a name a dataset, of what a query finds; opens it, or a new run over it. */
  take: (query: RowQuery, name: string, next: "open" | "run") => void;
  pending: boolean;
  /** Why a row was not changed, or no version made of what was found. */
  error: string | null;
  reset: () => void;
}

interface Making {
  what: "change" | "remove" | "take";
  body: Pick<DeriveRequest, "operation" | "into">;
  next?: "open" | "run";
}

export function useRowChanges(dataset: Dataset, version: DatasetVersion, onDone: () => void): RowChanges {
  const derive = useDerive(dataset, version);
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const made = useSubmit({
    mutationFn: ({ body }: Making) => derive(body),
    onSuccess: ({ results }, { what, next }) => {
      const first = results[0];
      onDone();
      if (!first?.dataset_id) return;
      toast(`${first.ref} created`);
      if (next === "run") {
        void navigate({ to: "/runs/new", search: { dataset: first.ref } });
        return;
      }
      void navigate({
        to: "/datasets/$datasetId",
        params: { datasetId: first.dataset_id },
        // A changed row keeps its place, and the filters are for the next one to change.
        search:
          what === "take"
            ? { version: first.number }
            : before => ({ ...before, version: first.number, row: what === "change" ? before.row : undefined }),
        ignoreBlocker: what === "change",
      });
    },
    onError: (error, { what }) => {
      if (what === "remove") toastError("No version was created", error);
    },
  });
  const { isPending, error, variables, mutate, reset } = made;
  return {
    change: (id, text) =>
      mutate({ what: "change", body: { operation: { name: "edit", changes: [{ op: "change", id, text }] } } }),
    remove: ids =>
      mutate({
        what: "remove",
        body: { operation: { name: "edit", changes: ids.map(id => ({ op: "remove", id })) } },
      }),
    take: (query, name, next) =>
      mutate({
        what: "take",
        next,
        body: { operation: { name: "filter", query }, into: name.trim() ? { name: name.trim() } : null },
      }),
    pending: isPending,
    error: error && variables?.what !== "remove" ? errorText(error) : null,
    reset: () => {
      if (!isPending) reset();
    },
  };
}
