/* The ITS and LPIs: registers, commands, errors of commands, and what a CPU takes. */
#include "its.h"

struct its_memory its_memory;
static volatile u64 second_ready, second_took[4];
static __attribute__((aligned(16))) u8 second_stack[4096];
void secondary_main(void);
void secondary_start(void);

/* Switches LPIs of CPU `n` on or off, and waits until that has arrived. */
static void lpis(u64 n, u32 on) {
	store32(GICR_CTLR_OF(n), on);
	while (load32(GICR_CTLR_OF(n)) & 8)
		;
}
static void lpis_off(void) {
	store32(GITS_CTLR, 0);
	for (u64 n = 0; n < CPUS; n++)
		lpis(n, 0);
}
static void lpis_on(void) {
	for (u64 n = 0; n < CPUS; n++)
		lpis(n, 1);
	dsb();
}

static const u64 page_sizes[] = {4096, 16384, 65536};

/* Everything new: no device is mapped, collection n goes to CPU n, LPIs 8192 to 8223 are enabled with priority 0x80. */
static void its_reset(struct shape shape) {
	u64 page = page_sizes[shape.page_size];
	gic_reset();
	lpis_off();
	upper_new(12, 25, 0);
	its_memory.queue = heap(4096, 65536);
	its_memory.devices = heap(page, page);
	its_memory.collections = heap(page, page);
	its_memory.properties = heap(65536, 65536);
	for (u64 n = 0; n < CPUS; n++)
		its_memory.pending[n] = heap(8192, 65536);
	its_memory.itts = heap(32768, 4096);
	if (shape.indirect) {
		/* Room for the entries of the first numbers, and of a page in the middle. */
		store64(its_memory.devices, heap(page, page) | BASER_VALID);
		store64(its_memory.devices + 8 * 3, heap(page, page) | BASER_VALID);
		store64(its_memory.collections, heap(page, page) | BASER_VALID);
	}
	for (u32 n = 0; n < 32; n++)
		configure(LPI + n, 0x81);
	dsb();
	u64 more = BASER_VALID | shape.indirect << 62 | shape.page_size << 8;
	store64(GITS_CBASER, its_memory.queue | BASER_VALID);
	store64(GITS_CWRITER, 0);
	store64(GITS_BASER(0), its_memory.devices | more);
	store64(GITS_BASER(1), its_memory.collections | more);
	for (u64 n = 0; n < CPUS; n++) {
		store64(GICR_PROPBASER(n), its_memory.properties | 15);
		store64(GICR_PENDBASER(n), its_memory.pending[n]);
	}
	lpis_on();
	store32(GITS_CTLR, 1);
	mapc(0, 0);
	mapc(1, 1);
}

static const struct shape plain;

/* Device 1 with events 0 to 15, of which the first 8 are LPIs 8192 to 8199 on CPU 0. */
static void its_device(void) {
	mapd(1, 4, its_memory.itts);
	for (u64 n = 0; n < 8; n++)
		mapti(1, n, LPI + n, 0);
	its_sync(0);
}

static void state(const char *name) {
	gic_wait();
	out_name(name);
	out_field("hppir1", read_sysreg(ICC_HPPIR1));
	out_field("rpr", read_sysreg(ICC_RPR));
	out_field("ap1", read_sysreg(ICC_AP1R0));
	out_field("isr", read_sysreg(isr_el1));
	out_field("creadr", load64(GITS_CREADR));
	out_field("cwriter", load64(GITS_CWRITER));
	out_line();
}
/* Takes all that is pending, one after the other. */
static void drain(const char *name) {
	out_name(name);
	for (u32 n = 0; n < 40; n++) {
		u64 intid = read_sysreg(ICC_IAR1);
		isb();
		out_field("iar1", intid);
		if (intid >= 1020 && intid < 1024)
			break;
		end(intid);
	}
	out_line();
}

static void readback(const char *name, u64 at, u64 fixed) {
	u64 before = load64(at);
	out_name(name);
	out_field("before", before & ~fixed);
	store64(at, ~0ul);
	out_field("ones", load64(at) & ~fixed);
	store64(at, 0);
	out_field("zeros", load64(at) & ~fixed);
	store32(at, 0x5a5a5a5a);
	out_field("low", load64(at) & ~fixed);
	store32(at + 4, 0xa5a5a5a5);
	out_field("high", load64(at) & ~fixed);
	out_field("half", load32(at + 4) & ~(fixed >> 32));
	store64(at, 0);
	out_line();
}

static void registers(void) {
	section("registers");
	gic_reset();
	lpis_off();
	out_value("GITS_CTLR", load32(GITS_CTLR));
	out_value("GITS_IIDR", load32(GITS + 4));
	out_value("GITS_TYPER", load64(GITS_TYPER));
	out_value("GITS_TYPER high", load32(GITS_TYPER + 4));
	out_value("GITS_PIDR2", load32(GITS + 0xffe8));
	out_value("GITS_CIDR0", load32(GITS + 0xfff0));
	out_value("GITS_TRANSLATER", load32(GITS_TRANSLATER));
	out_value("GICD_TYPER", load32(GICD_TYPER) >> 17 & 0x7f);
	for (u64 n = 0; n < 8; n++) {
		u64 baser = load64(GITS_BASER(n));
		out_name("GITS_BASER");
		out_field("n", n);
		out_field("type", baser >> 56 & 7);
		out_field("valid", baser >> 63);
		out_line();
	}
	/* Type and Entry_Size are read-only. */
	readback("GITS_BASER0", GITS_BASER(0), 0x71ful << 48);
	readback("GITS_BASER1", GITS_BASER(1), 0x71ful << 48);
	readback("GITS_BASER2", GITS_BASER(2), 0);
	readback("GITS_CBASER", GITS_CBASER, 0);
	readback("GITS_CWRITER", GITS_CWRITER, 0);
	readback("GICR_PROPBASER", GICR_PROPBASER(0), 0);
	readback("GICR_PENDBASER", GICR_PENDBASER(0), 0);
	store32(GICR_CTLR, 0);
	out_value("GICR_CTLR", load32(GICR_CTLR));
	/* A write to the queue's base goes back to its start. */
	its_reset(plain);
	out_value("GITS_CREADR", load64(GITS_CREADR));
	out_value("GICR_CTLR", load32(GICR_CTLR));
	out_value("GITS_CTLR", load32(GITS_CTLR));
	/* While it is on, the tables and the queue are what they are. */
	store64(GITS_CBASER, 0);
	store64(GITS_BASER(0), 0);
	out_value("GITS_CBASER valid", load64(GITS_CBASER) >> 63);
	out_value("GITS_BASER0 valid", load64(GITS_BASER(0)) >> 63);
	store32(GITS_CTLR, 0);
	store64(GITS_CBASER, its_memory.queue | BASER_VALID);
	out_value("GITS_CREADR", load64(GITS_CREADR));
}

static void life(void) {
	section("life");
	its_reset(plain);
	its_device();
	state("mapped");
	its_int(1, 3);
	state("INT");
	u64 intid = acknowledge();
	state("acknowledged");
	its_int(1, 3);
	state("again while it runs");
	end(intid);
	state("ended");
	end(acknowledge());
	acknowledge();
	its_int(1, 2);
	its_int(1, 5);
	its_int(1, 0);
	drain("by number");
	its_int(1, 4);
	its_int(1, 4);
	drain("twice is once");
	its_int(1, 4);
	its_clear(1, 4);
	drain("cleared");
	its_int(1, 4);
	discard(1, 4);
	drain("discarded");
	its_int(1, 4);
	drain("after that");
	mapti(1, 4, LPI + 20, 0);
	its_int(1, 4);
	drain("as another");
	mapti(1, 4, LPI + 21, 0);
	its_int(1, 4);
	drain("mapped over it");
	/* MAPI: the event's number is the LPI's. */
	mapd(2, 14, its_memory.itts + 4096);
	unmapd(2);
	its_int(1, 1);
	unmapd(1);
	drain("pending, then its device unmapped");
	its_int(1, 1);
	drain("of an unmapped device");
	mapd(1, 4, its_memory.itts);
	its_int(1, 1);
	drain("mapped again to the same table");
}

static void configuration(void) {
	section("configuration");
	its_reset(plain);
	its_device();
	configure(LPI + 1, 0x80);
	configure(LPI + 2, 0x41);
	configure(LPI + 3, 0x00);
	dsb();
	invall(0);
	its_sync(0);
	for (u64 n = 0; n < 5; n++)
		its_int(1, n);
	drain("one is not enabled, one is higher");
	configure(LPI + 1, 0x81);
	dsb();
	inv(1, 1);
	its_sync(0);
	state("enabled while pending");
	configure(LPI + 1, 0x80);
	dsb();
	inv(1, 1);
	its_sync(0);
	state("disabled while pending");
	configure(LPI + 1, 0x21);
	configure(LPI + 3, 0x11);
	dsb();
	invall(0);
	its_sync(0);
	drain("both by INVALL");
	/* Priorities between LPIs and others. */
	static const u8 priorities[] = {0x00, 0x40, 0x78, 0x80, 0x88, 0xf0, 0xf8};
	store32(GICR_ISENABLER0, 0xffff);
	for (u32 n = 0; n < sizeof priorities; n++) {
		configure(LPI, priorities[n] | 1);
		dsb();
		inv(1, 0);
		its_int(1, 0);
		sgi(2);
		gic_wait();
		out_name("beside SGI 2 of priority 80");
		out_field("priority", priorities[n]);
		u64 first = read_sysreg(ICC_IAR1);
		isb();
		out_field("first", first);
		out_field("rpr", read_sysreg(ICC_RPR));
		out_field("isr", read_sysreg(isr_el1));
		u64 second = read_sysreg(ICC_IAR1);
		isb();
		out_field("second", second);
		out_field("ap1", read_sysreg(ICC_AP1R0));
		if (second < 1020 || second > 1023)
			end(second);
		end(first);
		out_line();
		drain("rest");
	}
	static const u8 masks[] = {0x10, 0x80, 0x81, 0x88, 0xff};
	configure(LPI, 0x81);
	dsb();
	inv(1, 0);
	its_int(1, 0);
	for (u32 n = 0; n < sizeof masks; n++) {
		write_sysreg(ICC_PMR, masks[n]);
		isb();
		out_name("pmr");
		out_field("pmr", masks[n]);
		out_field("isr", read_sysreg(isr_el1));
		out_field("hppir1", read_sysreg(ICC_HPPIR1));
		out_line();
	}
	write_sysreg(ICC_IGRPEN1, 0);
	isb();
	state("group 1 off at the interface");
	write_sysreg(ICC_IGRPEN1, 1);
	isb();
	store32(GICD_CTLR, 0x11);
	state("group 1 off at the distributor");
	store32(GICD_CTLR, 0x13);
	state("on");
	drain("rest");
}

static void eoi_mode(void) {
	section("EOImode 1");
	its_reset(plain);
	its_device();
	write_sysreg(ICC_CTLR, 2);
	isb();
	its_int(1, 3);
	u64 intid = acknowledge();
	state("acknowledged");
	end(intid);
	state("dropped");
	its_int(1, 3);
	state("again before DIR");
	write_sysreg(ICC_DIR, intid);
	isb();
	state("DIR of an LPI");
	end(acknowledge());
	end(1023);
	state("done");
	write_sysreg(ICC_CTLR, 0);
	isb();
}

CODE(nothing, "nop\n nop\n nop");
CODE(wfi_, "wfi\n mov x0, #5");
static void taken(void) {
	section("taken");
	its_reset(plain);
	its_device();
	its_int(1, 6);
	test("masked", nothing, EL0T, 0, 0, 0, 0);
	test("at EL0", nothing, 0, 0, 0, 0, 0);
	test("at EL1", nothing, EL1H & ~0x80ul, 0, 0, 0, 0);
	test("WFI", wfi_, EL1H, 0, 0, 0, 0);
	end(acknowledge());
	test("nothing left", nothing, 0, 0, 0, 0, 0);
}

/* Errors: whatever they do, the ITS goes on when software asks it to. */
static void error(const char *name, u64 a, u64 b, u64 c, u64 d) {
	its_put(a, b, c, d);
	its_wait();
	out_name(name);
	out_field("stalled", load64(GITS_CREADR) & 1);
	/* A stalled one is skipped by a command that does something. */
	out_line();
	its_int(1, 7);
	drain("then");
}
static void errors(void) {
	section("errors");
	its_reset(plain);
	its_device();
	error("no command", 0, 0, 0, 0);
	error("no command, ff", ~0ul, ~0ul, ~0ul, ~0ul);
	error("MAPD of a device out of range", 0x08 | 0xfffffful << 32, 3, its_memory.itts | VALID_BIT, 0);
	error("MAPD with too many events", 0x08 | 2ul << 32, 31, its_memory.itts | VALID_BIT, 0);
	error("MAPC to no CPU", 0x09, 0, 3 | 99ul << 16 | VALID_BIT, 0);
	error("MAPTI of no device", 0x0a | 5ul << 32, 1 | (u64)(LPI + 9) << 32, 0, 0);
	error("MAPTI of an event out of range", 0x0a | 1ul << 32, 16 | (u64)(LPI + 9) << 32, 0, 0);
	error("MAPTI to an SPI", 0x0a | 1ul << 32, 9 | 40ul << 32, 0, 0);
	its_int(1, 9);
	drain("nor is it mapped");
	error("MAPI below 8192", 0x0b | 1ul << 32, 9, 0, 0);
	error("MAPTI beyond", 0x0a | 1ul << 32, 9 | 0x10000ul << 32, 0, 0);
	error("MAPTI to no collection yet", 0x0a | 1ul << 32, 9 | (u64)(LPI + 9) << 32, 5, 0);
	its_int(1, 9);
	drain("to a collection that is not mapped");
	mapc(5, 0);
	its_int(1, 9);
	drain("and when it is");
	unmapc(5);
	its_int(1, 9);
	drain("and when it is no more");
	error("INT of an event not mapped", 0x03 | 1ul << 32, 12, 0, 0);
	error("CLEAR of an event not mapped", 0x04 | 1ul << 32, 12, 0, 0);
	error("INV of an event not mapped", 0x0c | 1ul << 32, 12, 0, 0);
	error("DISCARD of an event not mapped", 0x0f | 1ul << 32, 12, 0, 0);
	error("MOVI to no collection", 0x01 | 1ul << 32, 7, 77, 0);
	error("MOVALL from no CPU", 0x0e, 0, 50ul << 16, 0);
	error("MOVALL to no CPU", 0x0e, 0, 0, 50ul << 16);
	error("INVALL of no collection", 0x0d, 0, 77, 0);
}

static void queue(void) {
	section("queue");
	its_reset(plain);
	its_device();
	/* Round the end, several at once. */
	for (u32 n = 0; n < 300; n++)
		its_put(0x03 | 1ul << 32, n % 4, 0, 0);
	its_wait();
	state("300 commands");
	drain("of four events");
	/* Behind the end of the queue. */
	u64 good = load64(GITS_CWRITER);
	store64(GITS_CWRITER, 0x8000);
	its_wait();
	drain("behind the end");
	store64(GITS_CWRITER, good);
	its_int(1, 2);
	drain("and back");
	/* While it is off, commands wait, and messages are lost. */
	mapd(0, 2, its_memory.itts + 4096);
	mapti(0, 1, LPI + 16, 0);
	mapti(0, 2, LPI + 17, 0);
	store32(GITS_CTLR, 0);
	its_put(0x03 | 1ul << 32, 5, 0, 0);
	store32(GITS_TRANSLATER, 1);
	drain("off");
	out_value("GITS_CTLR", load32(GITS_CTLR));
	store32(GITS_CTLR, 1);
	its_wait();
	drain("on");
}

/* A CPU's write to GITS_TRANSLATER is a message of device 0. */
static void messages(void) {
	section("messages");
	its_reset(plain);
	mapd(0, 3, its_memory.itts);
	for (u64 n = 0; n < 6; n++)
		mapti(0, n, LPI + 10 + n, 0);
	store32(GITS_TRANSLATER, 4);
	drain("word");
	store16(GITS_TRANSLATER, 2);
	drain("half");
	store32(GITS_TRANSLATER, 6);
	drain("not mapped");
	store32(GITS_TRANSLATER, 8);
	drain("out of range");
	unmapd(0);
	store32(GITS_TRANSLATER, 4);
	drain("no device");
}

static void shapes(void) {
	for (u64 indirect = 0; indirect < 2; indirect++) {
		for (u64 page_size = 0; page_size < 3; page_size++) {
			section("tables");
			subsection_hex("indirect ", indirect);
			subsection_hex("page ", page_size);
			its_reset((struct shape){page_size, indirect});
			u64 last = page_sizes[page_size] / 8 - 1;
			u64 middle = 3 * page_sizes[page_size] / 8 + 5;
			u64 devices[] = {0, last, last + 1, middle};
			for (u32 n = 0; n < 4; n++) {
				mapd(devices[n], 2, its_memory.itts + 4096 * n);
				mapti(devices[n], n, LPI + n, 0);
				its_int(devices[n], n);
				out_name("device");
				out_field("number", devices[n]);
				u64 intid = read_sysreg(ICC_IAR1);
				isb();
				out_field("iar1", intid);
				if (intid < 1020 || intid > 1023)
					end(intid);
				out_line();
			}
		}
	}
}

/* What is pending stays in the table while LPIs are off. */
static void off_and_on(void) {
	section("off and on");
	its_reset(plain);
	its_device();
	its_int(1, 2);
	its_int(1, 6);
	store32(GICR_CTLR, 0);
	state("off");
	its_int(1, 3);
	lpis(0, 1);
	drain("on");
	store32(GICR_CTLR, 0);
	/* By software: 8196 and 8199. */
	store8(its_memory.pending[0] + (LPI + 4) / 8, 0x90);
	dsb();
	store64(GICR_PROPBASER(0), its_memory.properties | 13);
	lpis(0, 1);
	drain("by the table");
	/* 14 bits of INTID: LPIs end at 16383. */
	mapti(1, 8, 16383, 0);
	mapti(1, 9, 16384, 0);
	store8(its_memory.properties + 16383 - LPI, 0x81);
	store8(its_memory.properties + 16384 - LPI, 0x81);
	dsb();
	its_int(1, 8);
	its_int(1, 9);
	drain("the last, and one beyond");
}

void secondary_main(void) {
	write_sysreg(mair_el1, MAIR);
	write_sysreg(ttbr0_el1, second_took[0]);
	write_sysreg(tcr_el1, second_took[1]);
	isb();
	tlb_flush();
	set_sctlr(SCTLR_ON);
	store32(GICR + 0x20014, 0);
	while (load32(GICR + 0x20014) & 4)
		;
	write_sysreg(ICC_SRE, 7);
	isb();
	write_sysreg(ICC_PMR, 0xff);
	write_sysreg(ICC_IGRPEN1, 1);
	isb();
	second_ready = 1;
	dsb();
	asm volatile("sev");
	for (u32 n = 0; n < 3;) {
		asm volatile("wfi");
		u64 intid = read_sysreg(ICC_IAR1);
		isb();
		if (intid == 1023)
			continue;
		second_took[n++] = intid;
		end(intid);
		second_ready = 1 + n;
		dsb();
		asm volatile("sev");
	}
	psci(0x84000002, 0, 0, 0);
}

static void wait_for_second(u64 value) {
	while (second_ready != value)
		asm volatile("wfe");
}

static void two(void) {
	section("two CPUs");
	its_reset(plain);
	its_device();
	/* CPU 1 is off: what goes there waits. */
	its_int(1, 1);
	movi(1, 1, 1);
	drain("moved away while pending");
	its_int(1, 2);
	movall(0, 1);
	drain("all moved away");
	movall(1, 0);
	drain("and back");
	movi(1, 2, 1);
	its_int(1, 2);
	drain("elsewhere");
	movi(1, 2, 0);
	drain("moved here while pending");
	mapc(1, 0);
	its_int(1, 1);
	drain("its collection is here now");
	mapc(1, 1);
	movi(1, 3, 1);
	movi(1, 4, 1);
	second_took[0] = read_sysreg(ttbr0_el1);
	second_took[1] = read_sysreg(tcr_el1);
	dsb();
	out_value("CPU_ON", psci(0xc4000003, 1, (u64)secondary_start, (u64)second_stack + sizeof second_stack));
	wait_for_second(1);
	its_int(1, 3);
	wait_for_second(2);
	its_int(1, 1);
	wait_for_second(3);
	its_int(1, 0);
	its_int(1, 4);
	wait_for_second(4);
	for (u32 n = 0; n < 3; n++)
		out_value("CPU 1 took", second_took[n]);
	drain("CPU 0 took");
}

int main(void) {
	registers();
	life();
	configuration();
	eoi_mode();
	taken();
	errors();
	queue();
	messages();
	shapes();
	off_and_on();
	two();
	return 0;
}
