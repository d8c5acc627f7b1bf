/* Counts nothing: it is there to be preloaded. */
int kexbench_standin;
