/** Creates versions from a version, once for each request, and updates the page's data. */
import { useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion, DeriveRequest } from "@/api/model";
import { Problem } from "@/api/http";
import { useRequestKey } from "@/lib/useRequestKey";
import { datasetQuery, datasetsQuery } from "./queries";

export function useDerive(dataset: Dataset, version: DatasetVersion) {
  const client = useQueryClient();
  const keyFor = useRequestKey();
  /**
   * Does it, on the newest version that the page knows of.
   *
   * @throws Problem; where a newer version was made in the meantime, the page knows of it thereafter.
   */
  return async (given: Omit<DeriveRequest, "latest">) => {
    const body = { ...given, latest: dataset.latest_version.number };
    const fresh = () =>
      Promise.all([
        client.invalidateQueries({ queryKey: datasetsQuery.queryKey, exact: true }),
        client.invalidateQueries({ queryKey: datasetQuery(dataset.id).queryKey, exact: true }),
      ]);
    try {
      const made = await api.deriveDatasetVersion(dataset.id, version.number, body, {
        "Idempotency-Key": keyFor([version.number, body]),
      });
      if (!body.dry_run) await fresh();
      return made;
    } catch (error) {
      if (error instanceof Problem && error.code === "newer_version") await fresh();
      throw error;
    }
  };
}
