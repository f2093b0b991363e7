"""Work that is begun again after a crash counts its tries before each of them begins."""
