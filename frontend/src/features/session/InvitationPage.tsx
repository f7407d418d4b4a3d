/** The page of an invitation link: for the invited user or another one, signed in or not. */
import { Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "@/api/client";
import type { Offer, Session } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { formatTime } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState, isNotThere } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { toast, toastError } from "@/ui/toast";
import { Entrance } from "./Entrance";
import { sessionQuery, useSession, useSignOut } from "./session";
import { TemporaryPasswordPage } from "./TemporaryPasswordPage";

export function InvitationPage() {
  const { token } = useParams({ from: "/invitations/$token" });
  const session = useSession();
  const temporary = session.user?.password_is_temporary ?? false;
  const offer = useQuery({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => api.readInvitation(encodeURIComponent(token), { signal }),
    enabled: !temporary,
  });
  if (temporary) return <TemporaryPasswordPage />;
  if (isNotThere(offer.error)) return <Gone />;
  if (!offer.data) {
    return (
      <Entrance title="Invitation">
        <Loaded query={offer}>{() => null}</Loaded>
      </Entrance>
    );
  }
  const { user } = session;
  if (user && user.email !== offer.data.email) return <SomebodyElse offer={offer.data} email={user.email} />;
  return <Accept token={token} offer={offer.data} user={user} />;
}

function Gone() {
  return (
    <Entrance title="This invitation is no longer valid">
      <Text size="sm">
        It was accepted, withdrawn or expired, or its link is incomplete. Ask a team admin for another.
      </Text>
      <Button component={Link} to="/runs" variant="default" fullWidth mt="xs">
        Open console
      </Button>
    </Entrance>
  );
}

function Terms({ offer }: { offer: Offer }) {
  return (
    <Stack gap={4}>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {offer.invited_by} invites {offer.email} to join as <strong>{offer.role}</strong>.
      </Text>
      <Text size="xs" c="dimmed">
        The link works once, until {formatTime(offer.expires_at)}.
      </Text>
    </Stack>
  );
}

function SomebodyElse({ offer, email }: { offer: Offer; email: string }) {
  const signOut = useSignOut();
  const leave = () =>
    signOut.mutate(undefined, {
      // The page is the same for anyone who is not signed in; all that it knows is from before.
      onSuccess: () => window.location.reload(),
      onError: error => toastError("You are still signed in", error),
    });
  return (
    <Entrance title={`Join ${offer.team}`}>
      <Terms offer={offer} />
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        You are signed in as {email}. Sign out to accept as {offer.email}.
      </Text>
      <Button fullWidth mt="xs" loading={signOut.isPending} onClick={leave}>
        Sign out
      </Button>
    </Entrance>
  );
}

function Accept({ token, offer, user }: { token: string; offer: Offer; user: Session["user"] }) {
  const [password, setPassword] = useState("");
  const [name, setName] = useState("");
  const [proof, setProof] = useState({ current: "", code: "" });
  const client = useQueryClient();
  const navigate = useNavigate();
  // An account whose address is not known to be the person's takes another password for a further team.
  const choose = !user?.address_proven;
  const accept = useSubmit({
    mutationFn: () =>
      api.acceptInvitation(encodeURIComponent(token), {
        ...(choose ? { password } : {}),
        ...(user ? {} : { name }),
        ...(user && choose ? proof : {}),
      }),
    onSuccess: async session => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, session);
      toast(`You have joined ${offer.team}.`);
      await navigate({ to: "/runs" });
    },
  });
  return (
    <Entrance title={`Join ${offer.team}`} onSubmit={() => accept.mutate()}>
      <Terms offer={offer} />
      {restError(accept.error, ["/password", "/name", "/current", "/code"]) !== null && (
        <ErrorState error={accept.error} />
      )}
      {user && choose && (
        <Text size="sm">
          It is not verified yet that {user.email} is yours, so choose a new password. Your other sessions, API tokens
          and second factors are revoked.
        </Text>
      )}
      {!user && (
        <TextInput
          label="Your name"
          autoComplete="name"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={fieldError(accept.error, "/name")}
          maxLength={120}
        />
      )}
      {user && choose && <Proof proof={proof} error={accept.error} onChange={setProof} />}
      {choose && (
        <>
          <input type="hidden" autoComplete="username" value={offer.email} readOnly />
          <PasswordInput
            label="Choose a password"
            description="At least twelve characters."
            autoComplete="new-password"
            value={password}
            onChange={event => setPassword(event.currentTarget.value)}
            error={fieldError(accept.error, "/password")}
            minLength={12}
            required
            withAsterisk={false}
          />
        </>
      )}
      <Button type="submit" fullWidth mt="xs" loading={accept.isPending}>
        {user ? "Join" : "Create account and join"}
      </Button>
      {!user && (
        <Button
          variant="default"
          fullWidth
          onClick={() =>
            void navigate({ to: "/sign-in", search: { next: `/invitations/${encodeURIComponent(token)}` } })
          }
        >
          Sign in with an existing account
        </Button>
      )}
    </Entrance>
  );
}

interface ProofProps {
  proof: { current: string; code: string };
  error: unknown;
  onChange: (proof: { current: string; code: string }) => void;
}

/** What a sign-in to the account that ends would take: its session alone does not replace it. */
function Proof({ proof, error, onChange }: ProofProps) {
  return (
    <>
      <PasswordInput
        label="Current password"
        autoComplete="current-password"
        value={proof.current}
        onChange={event => onChange({ ...proof, current: event.currentTarget.value })}
        error={fieldError(error, "/current")}
        required
        withAsterisk={false}
      />
      <TextInput
        label="Code"
        description="From your app, or a recovery code. Leave empty if you have no second factor."
        autoComplete="one-time-code"
        maxLength={40}
        value={proof.code}
        onChange={event => onChange({ ...proof, code: event.currentTarget.value })}
        error={fieldError(error, "/code")}
      />
    </>
  );
}
