"""Background work of the platform every two seconds: slots, lost workers, rollups."""
