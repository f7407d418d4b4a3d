"""What the platform does by itself every two seconds: places, lost workers, rollups."""
