/* y = a * x + y over 4096 floats, four at a time; ITERATIONS vectors. */
#include <arm_neon.h>
#include "bench.h"

static float x[4096], y[4096];

static u64 work(void) {
	for (int n = 0; n < 4096; n++)
		x[n] = (float)n;
	float32x4_t a = vdupq_n_f32(0.5f);
	for (u64 n = 0; n < ITERATIONS; n++) {
		float *to = y + n % 1024 * 4;
		vst1q_f32(to, vfmaq_f32(vld1q_f32(to), a, vld1q_f32(x + n % 1024 * 4)));
	}
	u64 sum = 0;
	for (int n = 0; n < 4096; n++)
		sum += (u64)y[n];
	return sum;
}
