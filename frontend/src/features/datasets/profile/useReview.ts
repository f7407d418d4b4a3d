/** Verdicts on suspect gold answers: reads and saves them, and creates a version from them. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { AskedVerdictRequest, Dataset, Profile } from "@/api/model";
import { notesQuery, WITH_NOTES } from "@/entities/datasets/queries";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { reviewQuery } from "./queries";
import { useOpenMade } from "./useOpenMade";

export function useReview(profile: Profile, dataset: Dataset) {
  const client = useQueryClient();
  const openMade = useOpenMade();
  const keyFor = useRequestKey();
  const [asked, setAsked] = useState<number | null>(null);
  const found = useQuery(reviewQuery(profile.id));
  const version = Number(profile.version.split("@").at(-1));
  const say = useSubmit({
    mutationFn: (verdict: AskedVerdictRequest) => api.sayVerdicts(profile.id, { verdicts: [verdict] }),
    onMutate: ({ row }) => setAsked(row),
    onSuccess: async said => {
      client.setQueryData(reviewQuery(profile.id).queryKey, said);
      const known = WITH_NOTES.map(kind => ["datasets", dataset.id, kind, version]);
      const stale = [notesQuery(dataset.id, version).queryKey, ...known];
      await Promise.all(stale.map(queryKey => client.invalidateQueries({ queryKey })));
    },
  });
  const make = useSubmit({
    mutationFn: () => {
      const body = { latest: dataset.latest_version.number };
      return api.deriveFromReview(profile.id, body, { "Idempotency-Key": keyFor([body, found.data]) });
    },
    onSuccess: openMade,
  });
  return { found, say, make, version, /** Row of which something was said last. */ asked };
}
