"""The link: what a worker may request and report. A worker only knows one run and one attempt of the platform."""
