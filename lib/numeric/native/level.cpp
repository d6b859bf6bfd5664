/** The level of the kernels that processor and operating system support: 0 baseline, 1 avx2, 2 avx512. */
extern "C" __attribute__((visibility("default"))) int svc_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma")) return 0;
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") ? 2 : 1;
#else
  return 0;
#endif
}
