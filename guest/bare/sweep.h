/* The whole space of system registers and system instructions: what each encoding does at a level. */
#pragma once
#include "gic.h"

/* Code, made here: pairs of an instruction and `svc #0x7777`, executable at `code`. */
#define CODE_PA 0x40c00000ul
#define SVC 0xd40eeee1u

/* Where it is executed. */
static u64 code;
#define WRITE_AT CODE_PA

/* One letter for how a case ended: '.' UNDEFINED, 'o' done, 't' trapped as a system register access, 'f' as FP, 'w' as WFI or
 * WFE, 'a' a Data Abort, 'i' illegal state, 's' SVC, else '?'. */
static char outcome(void) {
	if (caught.vector & 0x180)
		return '!';
	if (caught.esr == DONE)
		return 'o';
	switch (caught.esr >> 26) {
	case 0x00:
		return '.';
	case 0x01:
		return 'w';
	case 0x07:
		return 'f';
	case 0x0e:
		return 'i';
	case 0x18:
		return 't';
	case 0x19:
		return 'v';
	case 0x1d:
		return 'm';
	case 0x24:
	case 0x25:
		return 'a';
	default:
		return '?';
	}
}

/* Acknowledging, waiting and what has side effects that later lines would show. */
static int skip(u32 op0, u32 op1, u32 crn, u32 crm, u32 op2, int write) {
	if (op0 == 0)
		return crn == 2 && crm == 0 && (op2 == 2 || op2 == 3); /* WFE, WFI */
	if (write && op0 == 3 && op1 == 0 && crn == 12 && crm == 11 && (op2 == 5 || op2 == 6 || op2 == 7))
		return 1;
	return 0;
}

static u32 encoding(u32 op0, u32 op1, u32 crn, u32 crm, u32 op2, u32 read, u32 rt) {
	return 0xd5000000u | read << 21 | op0 << 19 | op1 << 16 | crn << 12 | crm << 8 | op2 << 5 | rt;
}

/* All of op1, CRn, CRm, op2 under `op0`: one line for each CRm, a letter for each op2. */
static void sweep(const char *name, u32 op0, u64 spsr, int write) {
	section(name);
	u32 mark = section_mark();
	for (u32 op1 = 0; op1 < 8; op1++) {
		for (u32 crn = 0; crn < 16; crn++) {
			/* Implementation defined: two CPUs of the same name need not agree. */
			if ((op0 == 3 || op0 == 1) && (crn == 11 || crn == 15))
				continue;
			if (op0 == 0 && (crn < 2 || crn > 4))
				continue;
			u32 read = op0 >= 2;
			u32 rt = op0 == 0 ? 31 : 0;
			for (u32 n = 0; n < 128; n++) {
				/* Reads first, then writes of what was read. */
				store32(WRITE_AT + 16 * n, encoding(op0, op1, crn, n >> 3, n & 7, read, rt));
				store32(WRITE_AT + 16 * n + 4, SVC);
				store32(WRITE_AT + 16 * n + 8, encoding(op0, op1, crn, n >> 3, n & 7, 0, rt));
				store32(WRITE_AT + 16 * n + 12, SVC);
			}
			asm volatile("dsb ish\n ic ialluis\n dsb ish\n isb" ::: "memory");
			for (u32 crm = 0; crm < 16; crm++) {
				char letters[9] = {0};
				int any = 0;
				for (u32 op2 = 0; op2 < 8; op2++) {
					char *letter = &letters[op2];
					*letter = '-';
					if (skip(op0, op1, crn, crm, op2, write))
						continue;
					u64 at = code + 16 * (crm * 8 + op2);
					run4((void *)at, spsr, (u64)user_data, 0, 0, 0);
					*letter = outcome();
					if (write) {
						u64 value = *letter == 'o' ? caught.x[0] : 0;
						run4((void *)(at + 8), spsr, value, 0, 0, 0);
						*letter = outcome();
					}
					any |= *letter != '.';
				}
				/* With the registers as they were: lines must not depend on each other. */
				section_back(mark);
				subsection_hex("", op1);
				subsection_hex("", crn);
				subsection_hex("", crm);
				out_name("");
				out_char(' ');
				out(any ? letters : ".");
				out_line();
			}
		}
	}
	section_back(mark);
}

