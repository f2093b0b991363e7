"""The page that somebody comes to who asked for none in particular."""

from django.urls import reverse

from agency.models import Member, User


def landing_page_of(user: User) -> str:
    """The console for agency staff, the support admin for our own people, the dashboard for everybody else."""
    if Member.objects.filter(user=user).exists():
        return reverse("console:home")
    return reverse("admin:index" if user.is_staff else "app:home")
