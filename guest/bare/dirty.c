/* The Access flag and the dirty state: by software, and by hardware where the CPU can. */
#include "probe.h"

#define RW (NORMAL | SH_INNER)
#define HA (1ul << 39)
#define HD (1ul << 40)

static volatile u64 *slot;

static void one(const struct probe *p, u64 va, u64 descriptor, u64 pstate) {
	*slot = descriptor;
	tlb_flush();
	test(p->name, p->code, p->spsr == EL1H ? EL1H | pstate : p->spsr, va, SVC_TWICE, 0, 0);
	dsb();
	out_name(p->name);
	out_field("after", *slot >> 48 << 12 | (*slot & 0xfff));
	out_line();
}

static void updates(int level, u64 tcr) {
	static const struct {
		const char *name;
		u64 bits;
	} cases[] = {
		{"plain", AP(1)},
		{"AF", AP(1) | AF},
		{"DBM", AP(1) | DBM},
		{"DBM, AF", AP(1) | DBM | AF},
		{"DBM, read-only", AP(3) | DBM},
		{"DBM, read-only, AF", AP(3) | DBM | AF},
		{"read-only", AP(3)},
		{"DBM, kernel read-only, AF", AP(2) | DBM | AF},
		{"DBM, kernel", AP(0) | DBM},
		{"DBM, read-only, contiguous", AP(3) | DBM | AF | CONTIGUOUS},
	};
	section("tcr");
	subsection_hex("", tcr >> 39);
	subsection_hex("level ", (u64)level);
	u32 mark = section_mark();
	upper_new(12, 25, tcr);
	u64 va = target_va(level);
	slot = upper_slot(va, level);
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		section_back(mark);
		subsection(cases[n].name);
		for (u32 p = 0; p < PROBES; p++)
			one(&probes[p], va, leaf(level, RW | cases[n].bits), 0);
		for (u32 p = 0; p < sizeof more_probes / sizeof *more_probes; p++)
			if (cpu.lse || more_probes[p].code != probe_swp)
				one(&more_probes[p], va, leaf(level, RW | cases[n].bits), 0);
	}
}

/* A write after a read: the entry that the read made knows that the page is clean. */
CODE(read_write_read, "ldr x2, [x0]\n ldr x3, [x1]\n str x2, [x0]\n dsb sy\n ldr x4, [x1]\n eor x0, x3, x4");

int main(void) {
	target_reset();
	updates(3, 0);
	if (cpu.hafdbs >= 1)
		updates(3, HA);
	if (cpu.hafdbs >= 2) {
		updates(3, HA | HD);
		updates(3, HD);
		updates(2, HA | HD);
		updates(1, HA | HD);
		section("read, then write");
		upper_new(12, 25, HA | HD);
		slot = upper_slot(target_va(3), 3);
		*slot = leaf(3, RW | AP(3) | DBM);
		tlb_flush();
		test("one by one", read_write_read, EL1H, target_va(3), (u64)slot, 0, 0);
	}
	return 0;
}
