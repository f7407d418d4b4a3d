/** Who is signed in, and what the role allows. */
import * as api from "@/api/client";
import { queryOptions, useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { Role, Session } from "@/api/model";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => api.getSession({ signal }),
  staleTime: 60_000,
});

export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

const RANK: Record<Role, number> = { viewer: 0, editor: 1, operator: 2, admin: 3 };

/** Whether the signed-in person's role is at least `role`. */
export function useCan(role: Role): boolean {
  const { role: own } = useSession();
  return own !== null && RANK[own] >= RANK[role];
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { email: string; password: string; device_pass?: string }) => api.signIn(body),
    onSuccess: () => client.fetchQuery({ ...sessionQuery, staleTime: 0 }),
  });
}

/** The second step of a sign-in. */
export function useGiveCode(onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (code: string) => api.giveCode({ code }),
    onSuccess: async () => {
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      // Here, and not with the call: the form is gone once the session is known.
      onDone();
    },
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.signOut(),
    onSuccess: () => {
      client.clear();
      forgetDrafts();
    },
  });
}

export function useChooseTeam() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (team: string) => api.chooseTeam({ team }),
    onSuccess: () => client.clear(),
  });
}

/** The next user of this tab must not find drafts. */
function forgetDrafts() {
  try {
    window.sessionStorage.clear();
  } catch {
    return; // storage is switched off: nothing was kept
  }
}
