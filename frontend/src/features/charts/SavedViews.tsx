/** Saved chart views of the user and the team: apply one, or save the current charts. */
import { Button, Menu, Modal } from "@mantine/core";
import { IconLayoutGrid, IconStar } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ChartsSearch } from "@/entities/runs/search";
import { ErrorState } from "@/ui/ErrorState";
import { ViewsDialog } from "./ViewsDialog";
import { isChanged, searchOf, viewsQuery } from "./views";

interface Props {
  search: ChartsSearch;
  pins: string[];
  onChange: (next: Partial<ChartsSearch>) => void;
}

const NO_VIEW = searchOf({ id: "none", charts: { x: "step" } });

export function SavedViews({ search, pins, onChange }: Props) {
  const query = useQuery(viewsQuery);
  const [isOpen, setOpen] = useState(false);
  const views = query.data?.data ?? [];
  const applied = views.find(view => view.id === search.view);
  const label = applied ? `${applied.name}${isChanged(applied, search, pins) ? ", changed" : ""}` : "Views";
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="compact-xs" variant="default" leftSection={<IconLayoutGrid size={14} />} maw={220}>
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: "auto" }}>
          {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
          {views.map(view => (
            <Menu.Item
              key={view.id}
              onClick={() => onChange(searchOf(view))}
              fw={view === applied ? 600 : undefined}
              rightSection={view.default ? <IconStar size={13} aria-label="team default" /> : undefined}
            >
              {view.name}
            </Menu.Item>
          ))}
          {views.length > 0 && (
            <>
              <Menu.Item onClick={() => onChange(NO_VIEW)} c="dimmed">
                No view
              </Menu.Item>
              <Menu.Divider />
            </>
          )}
          <Menu.Item onClick={() => setOpen(true)}>Save or manage views</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Chart views" size="lg">
        <ViewsDialog {...{ search, pins, onChange }} />
      </Modal>
    </>
  );
}
