import { Button, Text } from "@mantine/core";
import { IconFingerprint } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { sessionQuery } from "./session";
import { askPasskey, hasPasskeys, refusalText } from "./webauthn";

/** Signs in with a passkey: alone, or as the second step after the password. */
export function PasskeyButton({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const signIn = useSubmit({
    mutationFn: async () =>
      api.signInWithPasskey({ credential: await askPasskey((await api.beginPasskeySignIn()).options) }),
    onSuccess: async () => {
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      onDone();
    },
  });
  if (!hasPasskeys()) return null;
  const refusal = refusalText(signIn.error);
  return (
    <>
      {signIn.error && refusal === null && <ErrorState error={signIn.error} />}
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={16} />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate()}
      >
        Use a passkey
      </Button>
      {refusal !== null && (
        <Text size="xs" c="red" role="alert">
          {refusal}
        </Text>
      )}
    </>
  );
}
