//! A tick of a batch on all cores.
