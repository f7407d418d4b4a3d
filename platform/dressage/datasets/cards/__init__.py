"""Cards of datasets: where the rows are from, under which licence, what they are for, and who answers for them."""
