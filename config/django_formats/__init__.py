"""How Django itself writes times, where no filter of the pages does: in the support admin (`FORMAT_MODULE_PATH`)."""
