import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Problem } from "@/api/http";
import { ErrorState } from "@/ui/ErrorState";
import { CodeForm } from "./CodeForm";
import { Entrance } from "./Entrance";
import { PasskeyButton } from "./PasskeyButton";
import { ProviderButton } from "./ProviderButton";
import { sessionQuery, useSignIn } from "./session";

export function SignInPage() {
  const { next, pass, problem } = useSearch({ from: "/sign-in" });
  const navigate = useNavigate();
  const router = useRouter();
  const signIn = useSignIn();
  const { data: session } = useQuery(sessionQuery);
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const goOn = () => {
    // Only paths of this site: the parameter comes from the address and may be anyone's.
    const target = next?.startsWith("/") && !next.startsWith("//") ? next : null;
    if (target) router.history.replace(target);
    else void navigate({ to: "/runs", replace: true });
  };
  const submit = () =>
    signIn.mutate({ email, password, device_pass: pass }, { onSuccess: answer => answer.authenticated && goOn() });
  const refused = signIn.error instanceof Problem && signIn.error.status === 401;
  if (session?.second_factor_due) return <CodeForm onDone={goOn} />;
  return (
    <Entrance title="Sign in" onSubmit={submit}>
      {signIn.error && !refused && <ErrorState error={signIn.error} />}
      <TextInput
        label="Email"
        type="email"
        autoComplete="username"
        value={email}
        onChange={event => setEmail(event.currentTarget.value)}
        required
        withAsterisk={false}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        value={password}
        onChange={event => setPassword(event.currentTarget.value)}
        error={refused ? "The email or the password is wrong." : undefined}
        required
        withAsterisk={false}
      />
      <Button type="submit" fullWidth mt="xs" loading={signIn.isPending}>
        Sign in
      </Button>
      <PasskeyButton onDone={goOn} />
      {(session?.provider || problem) && <ProviderButton name={session?.provider ?? null} problem={problem} />}
    </Entrance>
  );
}
