/** The user's own account. Sections are independent, so a new way to sign in adds a section. */
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
            Set up an authenticator app to continue.
          </Alert>
        )}
        <Section
          title="Second factor"
          description="A code from your phone, entered after the password. A stolen password alone is not enough."
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
      <Section title="Sessions" description="Browsers in which you are signed in. End any that you do not recognise.">
        <Sessions />
        <DevicePass />
      </Section>
      <Section
        title="Activity"
        description="Sign-ins, wrong passwords and changes of the last six months. Team admins see them in the audit log."
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
