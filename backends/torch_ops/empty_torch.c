/* An empty library with the SONAME libtorch.so. Operator libraries name libtorch.so as needed; the wheel's own would
   pull in libtorch_cuda.so. Everything they really use is in libtorch_cpu.so and libc10.so, loaded already. */
int attest_empty_torch;
