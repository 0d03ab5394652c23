/* Integer vectors: shifts, additions, a table look-up and an exclusive or; ITERATIONS times sixteen bytes. */
#include <arm_neon.h>
#include "bench.h"

static u64 work(void) {
	uint8x16_t state = vdupq_n_u8(0x5a), turn = vdupq_n_u8(0);
	for (int n = 0; n < 16; n++)
		turn[n] = (u8)((n * 7 + 3) % 16);
	uint32x4_t sum = vdupq_n_u32(1);
	for (u64 n = 0; n < ITERATIONS; n++) {
		state = vqtbl1q_u8(state, turn);
		sum = vaddq_u32(sum, vreinterpretq_u32_u8(state));
		sum = vorrq_u32(vshlq_n_u32(sum, 5), vshrq_n_u32(sum, 27));
		state = veorq_u8(state, vreinterpretq_u8_u32(sum));
	}
	return vaddvq_u32(sum);
}
