/** What can be seen and done with the rows of a version, a tab each. */
import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { DatasetTabId } from "@/entities/datasets/search";
import { VERSION_TABS, type VersionTabProps } from "./tabs";

export function VersionTabs({ dataset, version }: VersionTabProps) {
  const { tab: wanted } = useSearch({ from: "/app/datasets/$datasetId" });
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  // The lab and profiles write notes, which only the owner does.
  const tabs = dataset.shared_by === null ? VERSION_TABS : VERSION_TABS.slice(0, 1);
  const tab = tabs.find(one => one.id === wanted) ?? VERSION_TABS[0];
  return (
    <Tabs
      value={tab.id}
      onChange={next =>
        void navigate({
          search: before => ({ ...before, version: version.number, tab: next as DatasetTabId }),
          replace: true,
        })
      }
      keepMounted={false}
    >
      <Tabs.List mb="sm" style={{ flexWrap: "nowrap", overflowX: "auto", overflowY: "hidden" }}>
        {tabs.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, component: Content }) => (
        <Tabs.Panel key={id} value={id}>
          <Content key={version.number} dataset={dataset} version={version} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
