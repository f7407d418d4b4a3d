import { Button, Text } from "@mantine/core";
import { toastError } from "@/ui/toast";
import { Entrance } from "./Entrance";
import { PasswordForm } from "./PasswordForm";
import { useSession, useSignOut } from "./session";

/** Replaces every page while the password is temporary. */
export function TemporaryPasswordPage() {
  const { user } = useSession();
  const signOut = useSignOut();
  const leave = () =>
    signOut.mutate(undefined, {
      onSuccess: () => window.location.assign("/sign-in"),
      onError: error => toastError("You are still signed in", error),
    });
  return (
    <Entrance title="Choose your own password">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        You signed in as {user?.email} with a password that someone else has seen. Choose another to continue.
      </Text>
      <PasswordForm />
      <Button variant="subtle" color="gray" fullWidth loading={signOut.isPending} onClick={leave}>
        Sign out
      </Button>
    </Entrance>
  );
}
