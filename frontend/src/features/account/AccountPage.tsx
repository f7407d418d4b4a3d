/** One's own account. Each section stands alone, so that further ways to sign in take a section of their own. */
import { Alert, Paper, Stack, Text, Title } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { PasswordForm } from "@/features/session/PasswordForm";
import { useSession } from "@/features/session/session";
import { PageHeader } from "@/ui/PageHeader";
import { DevicePass } from "./DevicePass";
import { Events } from "./Events";
import { SecondFactor } from "./SecondFactor";
import { Sessions } from "./Sessions";

export function AccountPage() {
  const { user, second_factor_missing: missing } = useSession();
  return (
    <>
      <PageHeader title="Account" description={user?.email} />
      <Stack gap="lg">
        {missing && (
          <Alert color="yellow" icon={<IconLock size={18} />} title="A second factor is required here">
            Set up an authenticator app to go on. Everything else opens once that is done.
          </Alert>
        )}
        <Section
          title="Second factor"
          description="A code that your phone shows, asked for after the password. Whoever learns the password alone stays out."
        >
          <SecondFactor />
        </Section>
        <Section title="Password" description="Changing it ends all other sessions.">
          <Paper p="md" maw={440}>
            <PasswordForm />
          </Paper>
        </Section>
        {!missing && <Past />}
      </Stack>
    </>
  );
}

function Past() {
  return (
    <>
      <Section title="Sessions" description="Browsers in which you are signed in. End those that you do not know.">
        <Sessions />
        <DevicePass />
      </Section>
      <Section
        title="What has happened"
        description="Half a year of sign-ins, wrong passwords and changes. Admins of your teams see them in the audit log."
      >
        <Events />
      </Section>
    </>
  );
}

function Section({ title, description, children }: { title: string; description: string; children: ReactNode }) {
  return (
    <div>
      <Title order={2} fz="md">
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {description}
      </Text>
      {children}
    </div>
  );
}
