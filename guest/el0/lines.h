/* Lines of text that are put together and written at once. */
#ifndef LINES_H
#define LINES_H

#include "call.h"

static char line_[512];
static u64 length_;

static inline void put(const char *text) {
	while (*text && length_ < sizeof line_ - 1)
		line_[length_++] = *text++;
}
static inline void put_hex(u64 value) {
	int shift = 60;
	while (shift > 0 && value >> shift == 0)
		shift -= 4;
	char digit[2] = {0, 0};
	for (; shift >= 0; shift -= 4) {
		digit[0] = "0123456789abcdef"[value >> shift & 15];
		put(digit);
	}
}
static inline void put_number(i64 value) {
	char text[24];
	int at = 23;
	u64 rest = value < 0 ? -(u64)value : (u64)value;
	text[at] = 0;
	do
		text[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		text[--at] = '-';
	put(text + at);
}
static inline void end_line(void) {
	line_[length_++] = '\n';
	call(WRITE, 1, line_, length_);
	length_ = 0;
}

#endif
