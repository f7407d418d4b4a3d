import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCan, useSession } from "@/features/session/session";
import { PageHeader } from "@/ui/PageHeader";
import { AuditTab } from "./AuditTab";
import { GpuHoursTab } from "./GpuHoursTab";
import { JudgesTab } from "./JudgesTab";
import { MembersTab } from "./MembersTab";
import { TokensTab } from "./TokensTab";

/** Tabs whose lists the platform shows to admins alone. */
const ADMINS = ["tokens", "audit"];

export function TeamPage() {
  const { tab: wanted = "members" } = useSearch({ from: "/app/team" });
  const navigate = useNavigate({ from: "/team" });
  const { team } = useSession();
  const admin = useCan("admin");
  const tab = admin || !ADMINS.includes(wanted) ? wanted : "members";
  return (
    <>
      <PageHeader title="Team" description={team?.name} />
      <Tabs
        value={tab}
        onChange={next => void navigate({ search: { tab: next as typeof tab }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="members">Members</Tabs.Tab>
          {admin && <Tabs.Tab value="tokens">API tokens</Tabs.Tab>}
          <Tabs.Tab value="judges">Judges</Tabs.Tab>
          <Tabs.Tab value="gpu-hours">GPU hours</Tabs.Tab>
          {admin && <Tabs.Tab value="audit">Audit log</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="members">
          <MembersTab />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <TokensTab />
        </Tabs.Panel>
        <Tabs.Panel value="judges">
          <JudgesTab />
        </Tabs.Panel>
        <Tabs.Panel value="gpu-hours">
          <GpuHoursTab />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <AuditTab />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
