/**
 * Exported functions. Every source is compiled once per level, and the names of its functions end in it:
 * svc_modulate_qpsk_baseline runs on any processor of the architecture, svc_modulate_qpsk_avx2 needs AVX2, BMI2 and
 * FMA, svc_modulate_qpsk_avx512 AVX-512 BW and VL as well. Callers check svc_level() first, see level.cpp.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#define SVC_JOIN_NOW(name, level) svc_##name##_##level
#define SVC_JOIN(name, level) SVC_JOIN_NOW(name, level)
#define SVC_EXPORT(type, name) extern "C" __attribute__((visibility("default"))) type SVC_JOIN(name, SVC_LEVEL)
