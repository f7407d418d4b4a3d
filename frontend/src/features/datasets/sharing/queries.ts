import { queryOptions } from "@tanstack/react-query";
import * as api from "@/api/client";

/** Offers and shares of a dataset. */
export const sharesQuery = (id: string) =>
  queryOptions({
    queryKey: ["dataset-shares", id],
    queryFn: ({ signal }) => api.listDatasetShares(id, { limit: 200 }, { signal }),
  });

/** The offer behind a link. An expired link stays expired. */
export const offerQuery = (secret: string) =>
  queryOptions({
    queryKey: ["dataset-offer", secret],
    queryFn: ({ signal }) => api.readDatasetOffer(encodeURIComponent(secret), { signal }),
    retry: false,
  });
