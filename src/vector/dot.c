/* src/vector/dot.c - products of codes, in plain C and as processors have them. */
#include <stdatomic.h>

#include "vector/dot.h"

static bool always(void)
{
    return true;
}

static void dots_plain(const int8_t *query, const int8_t *const *code, size_t bytes, size_t count,
                       int32_t *dots)
{
    for (size_t i = 0; i < count; i++) {
        int32_t sum = 0;

        for (size_t k = 0; k < bytes; k++)
            sum += query[k] * code[i][k];
        dots[i] = sum;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static bool has_vnni(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}

/*
 * An instruction multiplies unsigned bytes by signed ones: the code's sign goes over to the query. Two products
 * together are at most 2 * 127 * 127, which 16 bits hold.
 */
__attribute__((target("avx2"))) static void dots_avx2(const int8_t *query, const int8_t *const *code,
                                                      size_t bytes, size_t count, int32_t *dots)
{
    const __m256i ones = _mm256_set1_epi16(1);

    for (size_t i = 0; i < count; i++) {
        __m256i sum[2] = { _mm256_setzero_si256(), _mm256_setzero_si256() };
        __m128i half;

        for (size_t k = 0; k < bytes; k += VECTOR_LANE_BYTES)
            for (size_t h = 0; h < 2; h++) {
                __m256i c = _mm256_loadu_si256((const __m256i *)(code[i] + k) + h);
                __m256i q = _mm256_loadu_si256((const __m256i *)(query + k) + h);
                __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(c), _mm256_sign_epi8(q, c));

                sum[h] = _mm256_add_epi32(sum[h], _mm256_madd_epi16(pairs, ones));
            }
        sum[0] = _mm256_add_epi32(sum[0], sum[1]);
        half = _mm_add_epi32(_mm256_castsi256_si128(sum[0]), _mm256_extracti128_si256(sum[0], 1));
        half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
        half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
        dots[i] = _mm_cvtsi128_si32(half);
    }
}

/*
 * The instruction wants unsigned bytes on one side: codes are moved up by 128, and 128 times the query's sum, which the
 * same instruction makes, is taken off first.
 */
__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void dots_vnni(const int8_t *query,
                                                                             const int8_t *const *code,
                                                                             size_t bytes, size_t count,
                                                                             int32_t *dots)
{
    const __m512i high = _mm512_set1_epi8((char)0x80);
    __m512i moved = _mm512_setzero_si512(), first;

    for (size_t k = 0; k < bytes; k += VECTOR_LANE_BYTES)
        moved = _mm512_dpbusd_epi32(moved, high, _mm512_loadu_si512(query + k));
    first = _mm512_sub_epi32(_mm512_setzero_si512(), moved);
    for (size_t i = 0; i < count; i++) {
        __m512i sum = first;

        for (size_t k = 0; k < bytes; k += VECTOR_LANE_BYTES)
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(_mm512_loadu_si512(code[i] + k), high),
                                      _mm512_loadu_si512(query + k));
        dots[i] = _mm512_reduce_add_epi32(sum);
    }
}
#elif defined(__aarch64__)
#include <arm_neon.h>

/* Two products together are at most 2 * 127 * 127, which 16 bits hold. */
static void dots_neon(const int8_t *query, const int8_t *const *code, size_t bytes, size_t count,
                      int32_t *dots)
{
    for (size_t i = 0; i < count; i++) {
        int32x4_t sum = vdupq_n_s32(0);

        for (size_t k = 0; k < bytes; k += 16) {
            int8x16_t c = vld1q_s8(code[i] + k), q = vld1q_s8(query + k);
            int16x8_t pairs = vmull_s8(vget_low_s8(c), vget_low_s8(q));

            sum = vpadalq_s16(sum, vmlal_s8(pairs, vget_high_s8(c), vget_high_s8(q)));
        }
        dots[i] = vaddvq_s32(sum);
    }
}
#endif

const struct vector_form vector_forms[] = {
    { "plain", always, dots_plain },
#if defined(__x86_64__)
    { "AVX2", has_avx2, dots_avx2 },
    { "AVX-512 VNNI", has_vnni, dots_vnni },
#elif defined(__aarch64__)
    { "NEON", always, dots_neon },
#endif
};
const size_t vector_form_count = sizeof(vector_forms) / sizeof(vector_forms[0]);

const struct vector_form *vector_form_best(void)
{
    static const struct vector_form *_Atomic best;
    const struct vector_form *found = atomic_load_explicit(&best, memory_order_relaxed);

    for (size_t i = vector_form_count; !found && i > 0; i--)
        if (vector_forms[i - 1].runs())
            found = &vector_forms[i - 1];
    atomic_store_explicit(&best, found, memory_order_relaxed);
    return found;
}
