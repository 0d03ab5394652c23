/* Instructions of one architecture level: built once for each, with the compiler told so (-march) and LEVEL_name defined.
 * No library, so that it runs under any Linux and any emulator of one. Prints `levels: name hash` of what it computed, or
 * `levels: name undefined` where the first instruction of the level is. */

#include <arm_acle.h>
#include <arm_neon.h>

#include "call.h"

enum { SIGILL = 4 };

static void on_undefined(int signal) {
	(void)signal;
	print_text("levels: " NAME " undefined\n");
	call(EXIT, 0, 0, 0, 0);
}

static u64 seed = 1, hash = 0xcbf29ce484222325;
static u64 next(void) {
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed ^ seed >> 29;
}
static void add(u64 value) {
	hash = (hash ^ value) * 0x100000001b3;
}
#define VECTOR(type) __extension__({ \
	union { type vector; u64 words[sizeof(type) / 8]; } u_; \
	for (u64 i_ = 0; i_ < sizeof(type) / 8; i_++) \
		u_.words[i_] = next(); \
	u_.vector; \
})
#define ADD(type, value) do { \
	union { type vector; u64 words[sizeof(type) / 8]; } u_ = { .vector = (value) }; \
	for (u64 i_ = 0; i_ < sizeof(type) / 8; i_++) \
		add(u_.words[i_]); \
} while (0)
/* Numbers of moderate size, so that not all is infinite. */
static inline float32x4_t floats(void) {
	return vmulq_n_f32(vcvtq_f32_s32(VECTOR(int32x4_t)), 0x1p-20f);
}

static void work(void) {
#if defined LEVEL_base
	static u64 cells[16];
	for (int i = 0; i < 16; i++)
		add(__atomic_fetch_add(&cells[next() & 15], next(), __ATOMIC_ACQ_REL));
	ADD(float32x4_t, vfmaq_f32(floats(), floats(), floats()));
	ADD(uint8x16_t, vqtbl1q_u8(VECTOR(uint8x16_t), vandq_u8(VECTOR(uint8x16_t), vdupq_n_u8(31))));
#elif defined LEVEL_crc
	add(__crc32d(next(), next()) ^ __crc32cw(next(), next()));
#elif defined LEVEL_crypto
	ADD(uint8x16_t, vaesmcq_u8(vaeseq_u8(VECTOR(uint8x16_t), VECTOR(uint8x16_t))));
	ADD(uint32x4_t, vsha1cq_u32(VECTOR(uint32x4_t), next(), VECTOR(uint32x4_t)));
	ADD(uint32x4_t, vsha256hq_u32(VECTOR(uint32x4_t), VECTOR(uint32x4_t), VECTOR(uint32x4_t)));
	ADD(uint64x2_t, vreinterpretq_u64_p128(vmull_p64(next(), next())));
#elif defined LEVEL_lse
	static u64 cells[16];
	for (int i = 0; i < 16; i++) {
		u64 expected = i & 1 ? cells[i] : next();
		add(__atomic_fetch_add(&cells[next() & 15], next(), __ATOMIC_ACQ_REL));
		add(__atomic_compare_exchange_n(&cells[i], &expected, next(), 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
		add(__atomic_exchange_n((u8 *)&cells[i], next(), __ATOMIC_ACQUIRE));
	}
#elif defined LEVEL_rdm
	ADD(int16x8_t, vqrdmlahq_s16(VECTOR(int16x8_t), VECTOR(int16x8_t), VECTOR(int16x8_t)));
#elif defined LEVEL_fp16
	float16x8_t a = vcvtq_f16_s16(VECTOR(int16x8_t)), b = vcvtq_f16_s16(VECTOR(int16x8_t));
	ADD(float16x8_t, vfmaq_f16(vdivq_f16(a, b), vsqrtq_f16(vabsq_f16(a)), b));
	__fp16 scalar = a[0];
	add(scalar * scalar > b[1]);
#elif defined LEVEL_dotprod
	ADD(uint32x4_t, vdotq_u32(VECTOR(uint32x4_t), VECTOR(uint8x16_t), VECTOR(uint8x16_t)));
	/* The compiler's own choice. */
	static u8 a[64], b[64];
	for (int i = 0; i < 64; i++)
		a[i] = next(), b[i] = next();
	u32 sum = 0;
	for (int i = 0; i < 64; i++)
		sum += a[i] * b[i];
	add(sum);
#elif defined LEVEL_fhm
	ADD(float32x4_t, vfmlalq_low_f16(floats(), vcvt_high_f16_f32(vcvt_f16_f32(floats()), floats()),
		vcvt_high_f16_f32(vcvt_f16_f32(floats()), floats())));
#elif defined LEVEL_sha3
	ADD(uint64x2_t, veor3q_u64(VECTOR(uint64x2_t), VECTOR(uint64x2_t), VECTOR(uint64x2_t)));
	ADD(uint64x2_t, vsha512hq_u64(VECTOR(uint64x2_t), VECTOR(uint64x2_t), VECTOR(uint64x2_t)));
	ADD(uint64x2_t, vxarq_u64(VECTOR(uint64x2_t), VECTOR(uint64x2_t), 17));
#elif defined LEVEL_sm4
	ADD(uint32x4_t, vsm3ss1q_u32(VECTOR(uint32x4_t), VECTOR(uint32x4_t), VECTOR(uint32x4_t)));
	ADD(uint32x4_t, vsm4eq_u32(VECTOR(uint32x4_t), VECTOR(uint32x4_t)));
#elif defined LEVEL_v83
	add(__jcvt(1e10 + next() / 7));
	ADD(float32x4_t, vcmlaq_rot90_f32(vcaddq_rot270_f32(floats(), floats()), floats(), floats()));
	u64 cell = next(), value;
	asm volatile("ldapr %0, %1" : "=r"(value) : "Q"(cell));
	add(value);
#elif defined LEVEL_v84
	u64 flags, cell = next(), value;
	asm volatile("setf8 %w1\n rmif %1, #5, #3\n cfinv\n mrs %0, nzcv" : "=r"(flags) : "r"(next()) : "cc");
	asm volatile("ldapur %0, [%1]" : "=r"(value) : "r"(&cell), "m"(cell));
	add(flags), add(value);
#elif defined LEVEL_v85
	u64 flags;
	add((u64)__rint32z(1e8 / 7)), add((u64)__rint64x(-1e17 / 3));
	asm volatile("fcmp %d1, %d1\n axflag\n xaflag\n sb\n mrs %0, nzcv" : "=r"(flags) : "w"(0.0) : "cc");
	add(flags);
#elif defined LEVEL_v86
	ADD(int32x4_t, vmmlaq_s32(VECTOR(int32x4_t), VECTOR(int8x16_t), VECTOR(int8x16_t)));
	bfloat16x8_t a = vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(floats()), floats());
	bfloat16x8_t b = vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(floats()), floats());
	ADD(float32x4_t, vbfdotq_f32(floats(), a, b));
	ADD(float32x4_t, vbfmlalbq_f32(floats(), a, b));
#elif defined LEVEL_cssc
	/* FEAT_CSSC and FEAT_HBC, which the assembler may not know: ABS, CNT, CTZ, SMAX, UMIN (immediate), BC.NE. */
	register u64 x0 asm("x0") = 0, x1 asm("x1") = -40;
	asm volatile(".inst 0xdac02020" : "=r"(x0) : "r"(x1));
	add(x0 == 40);
	asm volatile(".inst 0xdac01c20" : "=r"(x0) : "r"(x1));
	add(x0 == 60);
	asm volatile(".inst 0xdac01820" : "=r"(x0) : "r"(x1));
	add(x0 == 3);
	asm volatile(".inst 0x91c01420" : "=r"(x0) : "r"(x1));
	add(x0 == 5);
	asm volatile(".inst 0x91cc1420" : "=r"(x0) : "r"(x1));
	add(x0 == 5);
	asm volatile("mov x0, #1\n cmp x0, #0\n .inst 0x54000051\n mov x0, #2" : "=r"(x0) : : "cc");
	add(x0 == 1);
#else
#error "no level"
#endif
}

void _start(void) {
	static const struct {
		void (*handler)(int);
		u64 flags;
		void *restorer;
		u64 mask;
	} action = { on_undefined, 0, 0, 0 };
	call(SIGACTION, SIGILL, (u64)&action, 0, 8);
	for (int i = 0; i < 20; i++)
		work();
	char text[] = "levels: " NAME " 0000000000000000\n";
	for (u64 i = 0; i < 16; i++)
		text[sizeof text - 3 - i] = "0123456789abcdef"[hash >> 4 * i & 15];
	print_text(text);
	call(EXIT, 0, 0, 0, 0);
}
