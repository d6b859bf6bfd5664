/** Which level of the kernels this processor runs: 0 baseline, 1 avx2. The operating system's part is checked as well. */
extern "C" __attribute__((visibility("default"))) int svc_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
#else
  return 0;
#endif
}
