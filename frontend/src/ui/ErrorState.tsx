/** The error that replaces content that failed to load: what happened, and what to do. */
import { Alert, Button, Center, Code, Group, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconCompass } from "@tabler/icons-react";
import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { errorText, Problem } from "@/api/http";
import { useTold } from "./told";

/** Answers that stay: refused, or not there. */
const SETTLED = [403, 404, 410];

export const isNotThere = (error: unknown) => error instanceof Problem && error.status === 404;

export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  useTold(error);
  const problem = error instanceof Problem ? error : null;
  // Asking again would be answered in the same way.
  const settled = problem !== null && SETTLED.includes(problem.status);
  // Where faults have pointers, `detail` repeats the first of them.
  const listed = problem?.errors[0] !== undefined && problem.detail.includes(problem.errors[0].detail);
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={problem?.title ?? "This could not be loaded"}
      role="alert"
    >
      {!listed && <Text size="sm">{errorText(error)}</Text>}
      {problem && problem.errors.length > 0 && <FieldErrors problem={problem} />}
      <Group mt="xs" gap="sm">
        {retry && !settled && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
        {problem?.requestId && problem.status >= 500 && (
          <Text size="xs" c="dimmed">
            Request <Code>{problem.requestId}</Code>
          </Text>
        )}
      </Group>
    </Alert>
  );
}

/** Whether it is temporary: the network, or a part of the platform, is unavailable. */
const isUnreachable = (error: unknown) =>
  error instanceof TypeError || (error instanceof Problem && [502, 503, 504].includes(error.status));

/** Milliseconds. */
const AGAIN = 5000;

/** Tries again from time to time, and at once when the browser has a network again. */
function useRetries(isOn: boolean, retry: () => void): void {
  const latest = useRef(retry);
  useEffect(() => {
    latest.current = retry;
  });
  useEffect(() => {
    if (!isOn) return;
    const again = () => latest.current();
    const timer = window.setInterval(again, AGAIN);
    window.addEventListener("online", again);
    return () => {
      window.clearInterval(timer);
      window.removeEventListener("online", again);
    };
  }, [isOn]);
}

const MOST = 20;

function FieldErrors({ problem }: { problem: Problem }) {
  const rest = problem.errors.length - MOST;
  return (
    <ul style={{ margin: "4px 0 0", paddingLeft: 18, fontSize: 13 }}>
      {problem.errors.slice(0, MOST).map(({ pointer, detail }) => (
        <li key={pointer + detail}>
          {pointer && <span className="mono">{pointer.slice(1).replaceAll("/", ".")}: </span>}
          {detail}
        </li>
      ))}
      {rest > 0 && <li>and {rest} more</li>}
    </ul>
  );
}

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const isAway = isUnreachable(error);
  useRetries(isAway, retry);
  return (
    <Center mih="60vh" p="md">
      <Stack maw={560} w="100%">
        <ErrorState error={error} retry={retry} />
        {isAway && (
          <Text size="sm" c="dimmed">
            This page retries every few seconds. If that does not help, reload it: the console may have been upgraded.
          </Text>
        )}
      </Stack>
    </Center>
  );
}

export function NotFoundPage() {
  return (
    <Center mih="60vh" p="md">
      <Stack align="center" gap="xs">
        <IconCompass size={36} stroke={1.4} color="var(--c-text-3)" />
        <Title order={1}>Not found</Title>
        <Text c="dimmed" ta="center">
          The address is wrong, or belongs to another team.
        </Text>
        <Button component={Link} to="/runs" variant="default" mt="xs">
          Go to runs
        </Button>
      </Stack>
    </Center>
  );
}
