/* Double precision: two bodies around a third by their attraction, ITERATIONS steps; division and square root too. */
#include "bench.h"

struct body {
	double x, y, vx, vy;
};

static void attract(struct body *body, const struct body *to, double mass) {
	double dx = to->x - body->x, dy = to->y - body->y;
	double square = dx * dx + dy * dy + 0.01;
	double magnitude = 0.001 * mass / (square * __builtin_sqrt(square));
	body->vx += dx * magnitude;
	body->vy += dy * magnitude;
}

static u64 work(void) {
	struct body sun = { 0, 0, 0, 0 }, one = { 1, 0, 0, 1 }, two = { 0, 2, 0.7, 0 };
	for (u64 n = 0; n < ITERATIONS; n++) {
		attract(&one, &sun, 1.0);
		attract(&one, &two, 0.1);
		attract(&two, &sun, 1.0);
		attract(&two, &one, 0.1);
		one.x += 0.001 * one.vx;
		one.y += 0.001 * one.vy;
		two.x += 0.001 * two.vx;
		two.y += 0.001 * two.vy;
	}
	union {
		double value;
		u64 bits;
	} sum = { one.x + one.y + two.x + two.y };
	return sum.bits;
}
