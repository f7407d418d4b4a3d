import { Button, Center, Group, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { Problem } from "@/api/http";
import { ErrorState } from "@/ui/ErrorState";
import { Logo } from "@/ui/Logo";
import { ThemeToggle } from "@/ui/ThemeToggle";
import { useSignIn } from "./session";

export function SignInPage() {
  const { next } = useSearch({ from: "/sign-in" });
  const navigate = useNavigate();
  const router = useRouter();
  const signIn = useSignIn();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  useEffect(() => {
    document.title = "Sign in · Dressage";
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(
      { email, password },
      {
        onSuccess: () => {
          // Only paths of this site: the parameter comes from the address and may be anyone's.
          const target = next?.startsWith("/") && !next.startsWith("//") ? next : null;
          if (target) router.history.push(target);
          else void navigate({ to: "/runs" });
        },
      },
    );
  };
  const refused = signIn.error instanceof Problem && signIn.error.status === 401;
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w="100%" maw={380} gap="lg">
        <Group gap="sm" justify="center">
          <Logo size={34} />
          <Title order={1} fz={24}>
            Dressage
          </Title>
        </Group>
        <Paper p="lg" component="form" onSubmit={submit}>
          <Stack gap="sm">
            <Title order={2}>Sign in</Title>
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
          </Stack>
        </Paper>
        <Group justify="center" gap={4}>
          <Text size="xs" c="dimmed">
            Reinforcement learning, steered while it runs
          </Text>
          <ThemeToggle />
        </Group>
      </Stack>
    </Center>
  );
}
