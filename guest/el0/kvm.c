// A virtual machine in some 80 lines: what the smallest VMM does with Linux's KVM.
//
// The guest stores to an address with no memory behind it (which leaves to this program), counts a loop, loads a byte from
// there, reads memory of a second slot, and stores what it found. Each exit is printed.

#include <fcntl.h>
#include <linux/kvm.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define CORE(field) (KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | KVM_REG_ARM_CORE_REG(field))

enum { SLOT = 0x100000, CODE_AT = 0x80000000, DATA_AT = 0x40000000 };

// By GNU as.
static const unsigned CODE[] = {
	0xd2800840, // mov x0, #0x42
	0xd2a20001, // mov x1, #0x10000000
	0xb9000020, // str w0, [x1]
	0xd2800002, // mov x2, #0
	0xd2807d03, // mov x3, #1000
	0x91000442, // add x2, x2, #1
	0xf1000463, // subs x3, x3, #1
	0x54ffffc1, // b.ne to the add
	0x39400024, // ldrb w4, [x1]
	0xb9000422, // str w2, [x1, #4]
	0xd2a80006, // mov x6, #0x40000000
	0xb94000c7, // ldr w7, [x6]
	0xb9000827, // str w7, [x1, #8]
	0xb9000c24, // str w4, [x1, #12]
	0x14000000, // b .
};

static int check(const char *what, int result)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
	return result;
}

static void add_slot(int vm, int slot, unsigned long at, void *memory)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot, .guest_phys_addr = at, .memory_size = SLOT, .userspace_addr = (unsigned long)memory,
	};
	check("KVM_SET_USER_MEMORY_REGION", ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region));
}

int main(void)
{
	int kvm = check("/dev/kvm", open("/dev/kvm", O_RDWR));
	int vm = check("KVM_CREATE_VM", ioctl(kvm, KVM_CREATE_VM, 0));
	char *memory = mmap(0, 2 * SLOT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memcpy(memory, CODE, sizeof CODE);
	*(unsigned *)(memory + SLOT) = 0x1234;
	add_slot(vm, 0, CODE_AT, memory);
	add_slot(vm, 1, DATA_AT, memory + SLOT);

	int vcpu = check("KVM_CREATE_VCPU", ioctl(vm, KVM_CREATE_VCPU, 0));
	struct kvm_vcpu_init init;
	check("KVM_ARM_PREFERRED_TARGET", ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init));
	check("KVM_ARM_VCPU_INIT", ioctl(vcpu, KVM_ARM_VCPU_INIT, &init));
	int size = check("KVM_GET_VCPU_MMAP_SIZE", ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0));
	struct kvm_run *run = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	unsigned long pc = CODE_AT;
	struct kvm_one_reg reg = { CORE(regs.pc), (unsigned long)&pc };
	check("KVM_SET_ONE_REG", ioctl(vcpu, KVM_SET_ONE_REG, &reg));

	for (int n = 0; n < 5; n++) {
		check("KVM_RUN", ioctl(vcpu, KVM_RUN, 0));
		unsigned data = 0;
		memcpy(&data, run->mmio.data, run->mmio.is_write ? run->mmio.len : 0);
		printf("kvm: exit %u at %#llx, %u bytes, write %u, data %#x\n", run->exit_reason,
		       (unsigned long long)run->mmio.phys_addr, run->mmio.len, run->mmio.is_write, data);
		memset(run->mmio.data, 0x55, run->mmio.is_write ? 0 : run->mmio.len);
	}
	return 0;
}
