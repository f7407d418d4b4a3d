"""The Django project of Dressage: one app per noun."""
