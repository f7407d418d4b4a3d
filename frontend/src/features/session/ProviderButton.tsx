import { Button, Text } from "@mantine/core";
import * as api from "@/api/client";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";

/** Reasons for which the provider's answer opened nothing. */
const PROBLEMS: Record<string, string> = {
  email_not_verified: "The provider has not verified your email address.",
  domain_not_allowed: "Your email domain may not sign in with this provider.",
  no_account: "There is no account for your address. Ask an admin of your team to invite you.",
  address_not_proven: "Your address is not verified here. Sign in with your password.",
  other_identity: "Your account is linked to another identity at the provider. Sign in with your password.",
};

interface Props {
  name: string | null;
  /** Code of what went wrong the last time. */
  problem?: string;
}

/** Signs in with the installation's OpenID Connect provider. */
export function ProviderButton({ name, problem }: Props) {
  const begin = useSubmit({
    mutationFn: () => api.beginOidc(),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <>
      {problem && (
        <Text size="sm" c="red" role="alert">
          {PROBLEMS[problem] ?? "Sign-in with the provider failed. Try again."}
        </Text>
      )}
      {begin.error && <ErrorState error={begin.error} />}
      {name !== null && (
        <Button variant="default" fullWidth loading={begin.isPending} onClick={() => begin.mutate()}>
          Sign in with {name}
        </Button>
      )}
    </>
  );
}
