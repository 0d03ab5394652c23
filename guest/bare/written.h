/* What can be written of a system register: four patterns, and what is read back of each. */
#pragma once

static const u64 patterns[] = {~0ul, 0, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa};

#define WRITE_AND_READ(name)                                                                                           \
	{                                                                                                              \
		u64 before = read_sysreg(name);                                                                        \
		u64 values[4];                                                                                         \
		for (u32 n = 0; n < 4; n++) {                                                                          \
			write_sysreg(name, patterns[n]);                                                               \
			isb();                                                                                         \
			values[n] = read_sysreg(name);                                                                 \
		}                                                                                                      \
		write_sysreg(name, before);                                                                            \
		isb();                                                                                                 \
		print(#name, values);                                                                                  \
	}

static void print(const char *name, const u64 values[4]) {
	out_name(name);
	out_field("ones", values[0]);
	out_field("zeros", values[1]);
	out_field("odd", values[2]);
	out_field("even", values[3]);
	out_line();
}
